// The live feeds of chat over one WebSocket: each event is applied once and in order, also after a lost connection.

const PING = 60_000
/** Every this many pings ask for the heads of the feeds, which shows a lost last event. */
const PINGS_PER_HEAD_CHECK = 5
const MAX_FEEDS_PER_FRAME = 20
// One less than the limit of a connection, for the person's own feed.
const MAX_FEEDS = 199
const MAX_WAIT = 30_000
/** Before a refused or failed frame is repeated. The limit of frames is over then. */
const PAUSE = 10_000

export class Live {
  /**
   * `ticket` gets a ticket. `onEvent` receives each event, `onState` reports whether the socket is open. `onResync` reloads
   * everything: after a gap, and after a first subscription, since the events before it are not replayed.
   */
  constructor({ ticket, onEvent, onResync, onState }) {
    Object.assign(this, { ticket, onEvent, onResync, onState })
    /** The feeds: the number of the last event that was applied, the events that are held, and what is awaited. */
    this.feeds = new Map()
    this.socket = null
    /** The present reload, and the one after it. */
    this.current = Promise.resolve()
    this.next = null
    this.isWanted = false
    this.failures = 0
    this.frames = 0
  }

  start() {
    this.isWanted = true
    this.feed('user')
    this.onState(false)
    this.connect()
  }

  stop() {
    this.isWanted = false
    clearTimeout(this.retry)
    this.feeds.clear()
    this.socket?.close()
    this.onState(false)
  }

  /** Follows exactly these feeds beside the person's own, as many as a connection may have. */
  follow(all) {
    const names = all.slice(0, MAX_FEEDS)
    for (const name of this.feeds.keys()) {
      if (name === 'user' || names.includes(name)) continue
      this.feeds.delete(name)
      this.send({ action: 'unsubscribe', feeds: [name] })
    }
    const added = names.filter((name) => !this.feeds.has(name))
    added.forEach((name) => this.feed(name))
    this.subscribe(added)
  }

  feed(name) {
    // A feed is waiting until its subscription is confirmed. `wasWaiting` is from the last check of the heads.
    const added = { last: null, held: [], isWaiting: true, wasWaiting: false, isReloading: false }
    if (!this.feeds.has(name)) this.feeds.set(name, added)
    return this.feeds.get(name)
  }

  async connect() {
    if (this.socket || !this.isWanted) return
    let socket
    try {
      const { ticket, url } = await this.ticket()
      if (!this.isWanted || this.socket) return
      socket = new WebSocket(`${url}?ticket=${encodeURIComponent(ticket)}`)
    } catch {
      this.later()
      return
    }
    this.socket = socket
    socket.addEventListener('open', () => {
      this.failures = 0
      let pings = 0
      this.pings = setInterval(() => this.send({ action: 'ping', heads: ++pings % PINGS_PER_HEAD_CHECK === 0 }), PING)
      this.onState(true)
      for (const feed of this.feeds.values()) feed.isWaiting = true
      this.subscribe([...this.feeds.keys()])
    })
    socket.addEventListener('message', ({ data }) => this.received(JSON.parse(data)))
    socket.addEventListener('close', () => {
      clearInterval(this.pings)
      this.socket = null
      this.onState(false)
      this.later()
    })
  }

  later() {
    if (!this.isWanted) return
    const wait = Math.min(MAX_WAIT, 500 * 2 ** this.failures++)
    clearTimeout(this.retry)
    this.retry = setTimeout(() => this.connect(), wait * (0.5 + Math.random() / 2))
  }

  send(frame) {
    if (this.socket?.readyState !== WebSocket.OPEN) return
    this.socket.send(JSON.stringify({ id: `c${++this.frames}`, ...frame }))
  }

  subscribe(names) {
    for (let at = 0; at < names.length; at += MAX_FEEDS_PER_FRAME) {
      const feeds = names.slice(at, at + MAX_FEEDS_PER_FRAME).map((name) => {
        const { last } = this.feed(name)
        return last === null ? { feed: name } : { feed: name, after: last }
      })
      this.send({ action: 'subscribe', feeds })
    }
  }

  received(frame) {
    const feed = this.feeds.get(frame.feed)
    switch (frame.type) {
      case 'events':
        if (feed) this.events(frame, feed)
        break
      case 'subscribed':
        if (!feed) break
        feed.isWaiting = false
        if (feed.last === null) {
          feed.last = frame.head ?? 0
          this.reload(frame.feed, feed)
          break
        }
        this.release(frame.feed, feed)
        break
      case 'resync':
        if (!feed) break
        feed.isWaiting = false
        feed.last = frame.head
        this.reload(frame.feed, feed)
        break
      case 'error':
        // The limit of frames names no feed.
        if (frame.code === 'rate-limited') this.subscribeLater()
        if (frame.code === 'forbidden') this.feeds.delete(frame.feed)
        break
      case 'unsubscribed':
        if (frame.reason !== 'asked') this.feeds.delete(frame.feed)
        break
      case 'pong':
        if (frame.heads) this.compare(frame.heads)
        break
      case undefined:
        // The gateway's message that the handling of a frame has failed has no type, and names no feed.
        this.subscribeLater()
        break
    }
  }

  /** Asks for what the last numbers show to be missing, and again for what was awaited at the check before. */
  compare(heads) {
    const overdue = []
    for (const [name, feed] of this.feeds) {
      const isOverdue = feed.isWaiting && feed.wasWaiting
      feed.wasWaiting = feed.isWaiting
      // Its events are held. A gap among them is found when they are released.
      if (feed.isReloading) continue
      if (isOverdue) overdue.push(name)
      // The subscription to a feed without a number has ended, and nobody has told. It is asked for again, and refused if
      // the person has left.
      else if (!(name in heads) || feed.last < heads[name]) this.replay(name, feed)
    }
    this.subscribe(overdue)
  }

  /** Subscribes again to the feeds that are still waiting after a pause. */
  subscribeLater() {
    clearTimeout(this.repetition)
    this.repetition = setTimeout(() => this.subscribe(this.waiting()), PAUSE)
  }

  /** The feeds whose subscription is not confirmed. */
  waiting() {
    return [...this.feeds].filter(([, feed]) => feed.isWaiting).map(([name]) => name)
  }

  /** Reloads everything, again until it succeeds. The events of the feed are held meanwhile, since they are newer. */
  reload(name, feed) {
    feed.isReloading = true
    this.reloaded().then(
      () => {
        // The person may have signed out meanwhile.
        if (this.feeds.get(name) !== feed) return
        feed.isReloading = false
        this.release(name, feed)
      },
      () => setTimeout(() => this.isWanted && this.reload(name, feed), MAX_WAIT)
    )
  }

  /** Begins to reload after the present reload, once for all feeds that ask meanwhile. */
  reloaded() {
    this.next ??= this.current
      .catch(() => {})
      .then(() => {
        this.next = null
        this.current = this.isWanted ? this.onResync() : Promise.resolve()
        return this.current
      })
    return this.next
  }

  events({ feed: name, events }, feed) {
    for (const event of events) {
      if (feed.last !== null && event.n <= feed.last) continue
      if (feed.isReloading) {
        feed.held.push(event)
      } else if (feed.last === null || event.n > feed.last + 1) {
        feed.held.push(event)
        this.replay(name, feed)
      } else {
        feed.last = event.n
        this.onEvent(event)
      }
    }
  }

  /** Asks for the events after the last one that was applied. */
  replay(name, feed) {
    if (feed.isWaiting) return
    feed.isWaiting = true
    this.subscribe([name])
  }

  release(name, feed) {
    const held = feed.held.sort((one, other) => one.n - other.n)
    feed.held = []
    this.events({ feed: name, events: held }, feed)
  }
}
