// A small client of chat, which shows how its operations and its live feeds are used. It needs no build step.

import { Live } from '/chat/app/live.js'

const KINDS = ['👍', '❤️', '😄', '🎉', '👀']
const POLL = 5_000
const REQUEST_TIMEOUT = 30_000
const element = (id) => document.getElementById(id)
const stored = sessionStorage

/** The tokens of this window. Two windows can have different people. */
let session = JSON.parse(stored.getItem('session') ?? 'null')
let me = null
/** The conversations by `groupchat/{id}` or `privatechat/{id}`, in the order of the list. */
const chats = new Map()
/** The names of people by id. */
const names = new Map()
/** The open conversation: its name, its messages by id, the cursor of older ones, and the ids of what was sent since it was loaded. */
let open = null
let refreshing = null
let polling = null
let chatsAreStale = false
let chatsLoading = null
/** The handling of the events that have arrived, one after the other. */
let handled = Promise.resolve()
/** The message of the dialogs. */
let chosen = null

// Requests

class Refused extends Error {
  constructor(status, problem) {
    super(problem?.detail ?? `The platform answered ${status}.`)
    this.status = status
    this.errors = problem?.errors ?? []
  }
}

async function send(method, path, body, headers = {}, token = session?.accessToken) {
  const init = { method, headers: { ...headers }, signal: AbortSignal.timeout(REQUEST_TIMEOUT) }
  if (token) init.headers.authorization = `Bearer ${token}`
  if (body !== undefined) {
    init.headers['content-type'] = 'application/json'
    init.body = JSON.stringify(body)
  }
  const answer = await fetch(path, init)
  const text = await answer.text()
  const content = text === '' ? null : JSON.parse(text)
  if (!answer.ok) throw new Refused(answer.status, content)
  return content
}

/** Sends a request, and repeats it once with new tokens if those of the session have expired. */
async function request(method, path, body, headers) {
  try {
    return await send(method, path, body, headers)
  } catch (error) {
    if (error.status !== 401 || !session?.refreshToken) throw error
    refreshing ??= refresh(session).finally(() => (refreshing = null))
    await refreshing
    return await send(method, path, body, headers)
  }
}

async function refresh(old) {
  const tokens = await send('POST', '/chat/sessions/refresh', { refreshToken: old.refreshToken }, {}, null)
  // The user may have logged out meanwhile.
  if (session === old) keep(tokens)
}

function keep(tokens) {
  session = tokens
  stored.setItem('session', JSON.stringify(tokens))
}

/**
 * Reserves the session for this tab as long as it is open. Returns false in a duplicated tab, which has a copy of the
 * storage: two tabs that refresh with one token look like a theft, and both would be signed out.
 */
async function reserve({ sessionId }) {
  // The tokens of other issuers have no session here. Locks need TLS or localhost.
  if (!sessionId || !navigator.locks) return true
  return new Promise((resolve) => {
    // When a tab is reloaded, the lock of the page before may be released a little later.
    const signal = AbortSignal.timeout(1_000)
    const hold = () => {
      resolve(true)
      return new Promise(() => {})
    }
    navigator.locks.request(`session ${sessionId}`, { signal }, hold).catch(() => resolve(false))
  })
}

/** Ends a session that the page no longer uses. Its access token may have expired. */
async function endSession({ accessToken, refreshToken }) {
  const end = (token) => send('DELETE', '/chat/me/sessions/current', undefined, {}, token)
  try {
    await end(accessToken)
  } catch (error) {
    if (error.status !== 401) throw error
    const tokens = await send('POST', '/chat/sessions/refresh', { refreshToken }, {}, null)
    await end(tokens.accessToken)
  }
}

function showError(text) {
  element('error').textContent = text
  element('error').hidden = false
}

/** Runs an action of the user, and shows why it failed. */
async function attempt(action) {
  element('error').hidden = true
  try {
    return await action()
  } catch (error) {
    const faults = (error.errors ?? []).map((fault) => `${fault.pointer ?? fault.parameter ?? ''} ${fault.detail}`)
    showError(faults.length > 0 ? faults.join('; ') : error.message)
    if (error.status === 401 && me) signOut()
    return undefined
  }
}

// Sign-in

function formOf(id, action) {
  element(id).addEventListener('submit', (event) => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.target))
    attempt(async () => {
      await action(fields)
      event.target.reset()
    })
  })
}

formOf('log-in', async (fields) => {
  session = null
  await logIn(fields)
})

formOf('register', async ({ username, name, email, password }) => {
  session = null
  await send('POST', '/chat/users', { username, name, email, password })
  await logIn({ login: username, password })
})

formOf('use-token', async ({ token }) => {
  keep({ accessToken: token.trim() })
  await signIn()
})

async function logIn(credentials) {
  keep(await send('POST', '/chat/sessions', credentials))
  await reserve(session)
  await signIn()
}

async function signIn() {
  me = await request('GET', '/chat/me')
  names.set(me.id, me.name ?? me.username)
  element('me').textContent = `${me.name ?? ''} @${me.username}`.trim()
  show(true)
  await Promise.all([loadChats(), loadNotifications()])
  live.start()
}

function signOut() {
  live.stop()
  stored.removeItem('session')
  session = me = chosen = null
  // The next person does not wait for what is still being handled.
  handled = Promise.resolve()
  close()
  // Nothing of this person is left in the page for the next one.
  for (const kept of [chats, names, notifications]) kept.clear()
  hasMoreUnread = false
  for (const id of ['messages', 'conversations', 'kinds']) element(id).replaceChildren()
  for (const id of ['conversation-title', 'actions-title', 'actions-text', 'me', 'announcement']) element(id).textContent = ''
  for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close()
  for (const form of document.querySelectorAll('form')) form.reset()
  drawNotifications()
  show(false)
  element('login').focus()
}

function show(isSignedIn) {
  element('signed-in').hidden = !isSignedIn
  element('account').hidden = !isSignedIn
  element('signed-out').hidden = isSignedIn
  element('connection').hidden = !isSignedIn
  element('conversation').hidden = open === null
}

element('sign-out').addEventListener('click', () => {
  // The page does not wait for the answer: it is signed out even without a network.
  if (session?.refreshToken) endSession(session).catch(() => {})
  signOut()
})

// Conversations

const pathOf = (chat) => `/chat/${chat.replace('/', 's/')}`

async function pages(path) {
  const items = []
  let cursor
  do {
    const page = await request('GET', cursor ? `${path}&cursor=${encodeURIComponent(cursor)}` : path)
    items.push(...page.items)
    keepNames(page)
    cursor = page.nextCursor
  } while (cursor)
  return items
}

/** Keeps the names of the people whom the items of a page name. */
function keepNames({ people }) {
  for (const person of people ?? []) names.set(person.id, person.name ?? person.username ?? 'Deleted user')
}

/** Loads the conversations again, and once more if that is asked for meanwhile. The events after this one do not wait. */
function reloadChats() {
  chatsAreStale = true
  chatsLoading ??= (async () => {
    while (chatsAreStale) {
      chatsAreStale = false
      await loadChats().catch((error) => console.error(error))
    }
    chatsLoading = null
  })()
}

async function loadChats() {
  const person = me
  const [groups, privates] = await Promise.all([
    pages('/chat/me/groupchats?limit=25'),
    pages('/chat/me/privatechats?limit=25&include=people'),
  ])
  // The person may have signed out meanwhile.
  if (me !== person) return
  const known = new Map(chats)
  chats.clear()
  const put = (key, entry, name) => chats.set(key, { ...known.get(key), ...entry, key, name })
  for (const entry of groups) put(`groupchat/${entry.id}`, entry, entry.name)
  for (const entry of privates) put(`privatechat/${entry.id}`, entry, entry.name || (await nameOf(entry.userId)))
  if (open && !chats.has(open.key)) close()
  live.follow([...chats.keys()].filter((key) => key.startsWith('groupchat/')))
  drawChats()
  // A notification of a new conversation leads to it now.
  drawNotifications()
}

async function nameOf(id) {
  if (!names.has(id)) {
    names.set(id, 'Unknown user')
    const user = await request('GET', `/chat/users/${id}`).catch(() => null)
    names.set(id, user?.deleted ? 'Deleted user' : (user?.name ?? user?.username ?? 'Unknown user'))
  }
  return names.get(id)
}

function drawChats() {
  const focused = document.activeElement?.dataset?.chat
  const rows = [...chats.values()].map((chat) => {
    const button = make('button', { type: 'button' })
    button.dataset.chat = chat.key
    const isNew = chat.hasUnread && chat.key !== open?.key
    button.append(make('span', { className: isNew ? 'unread' : '', textContent: chat.name }))
    if (isNew) button.append(make('span', { className: 'visually-hidden', textContent: ', unread messages' }))
    if (chat.lastMessage) button.append(make('span', { className: 'last', textContent: chat.lastMessage.content ?? 'Deleted message' }))
    if (chat.key === open?.key) button.setAttribute('aria-current', 'true')
    button.addEventListener('click', () => attempt(() => openChat(chat.key)))
    const row = make('li')
    row.append(button)
    return row
  })
  element('conversations').replaceChildren(...rows)
  element('no-conversations').hidden = rows.length > 0
  if (focused) document.querySelector(`[data-chat="${focused}"]`)?.focus()
}

formOf('start', async ({ username }) => {
  const user = await request('GET', `/chat/usernames/${encodeURIComponent(username.trim().replace(/^@/, '').toLowerCase())}`)
  const chat = await request('POST', '/chat/privatechats', { userId: user.id })
  await loadChats()
  await openChat(`privatechat/${chat.id}`)
})

async function openChat(key) {
  const chat = chats.get(key)
  if (!chat) return
  open = { key, messages: new Map(), older: null, sent: new Set() }
  element('conversation-title').textContent = chat.name
  element('conversation').hidden = false
  drawChats()
  await reload()
  element('content-field').focus()
}

function close() {
  open = null
  element('conversation').hidden = true
}

function messagesOf(key, cursor) {
  const path = `${pathOf(key)}/messages?limit=50&include=people`
  return request('GET', cursor ? `${path}&cursor=${encodeURIComponent(cursor)}` : path)
}

/** Loads the newest messages of the open conversation, in place of those that are shown: there may be many in between. */
async function reload() {
  if (!open) return
  const present = open
  const before = new Set(present.messages.keys())
  const page = await messagesOf(present.key)
  keepNames(page)
  if (open !== present) return
  const loaded = new Map(page.items.map((message) => [message.id, message]))
  // What has arrived or changed meanwhile stays.
  const isLater = (message) =>
    loaded.has(message.id) ? !isNewer(loaded.get(message.id), message) : !before.has(message.id)
  const later = [...present.messages.values()].filter(isLater)
  present.messages = new Map()
  present.older = page.nextCursor ?? null
  await showLoaded([...page.items, ...later])
}

/** Loads what the open conversation has since the newest message that is shown, page by page. */
async function poll() {
  if (!open) return
  const present = open
  // There may be others before what this person has sent.
  const known = new Set([...present.messages.keys()].filter((id) => !present.sent.has(id)))
  const found = []
  let cursor
  do {
    const page = await messagesOf(present.key, cursor)
    keepNames(page)
    if (open !== present) return
    found.push(...page.items)
    cursor = page.nextCursor
    // An empty conversation shows the newest page only.
    if (known.size === 0) {
      present.older = cursor ?? null
      break
    }
  } while (cursor && !found.some((message) => known.has(message.id)))
  await showLoaded(found)
}

/** Shows loaded messages of the open conversation. */
async function showLoaded(loaded) {
  open.sent.clear()
  for (const message of loaded) merge(message)
  // A poll finds what was edited or deleted without an event.
  const chat = chats.get(open.key)
  const last = open.messages.get(chat?.lastMessage?.id)
  if (last && isNewer(last, chat.lastMessage)) {
    chat.lastMessage = last
    drawChats()
  }
  drawLoaded()
  await markRead()
}

/** Draws loaded messages. The log would read all of them aloud. */
function drawLoaded() {
  element('log').setAttribute('aria-busy', 'true')
  drawMessages()
  element('log').removeAttribute('aria-busy')
}

element('older').addEventListener('click', () =>
  attempt(async () => {
    const { key, older } = open
    const page = await messagesOf(key, older)
    keepNames(page)
    // The conversation may have been loaded again meanwhile.
    if (open?.key !== key || open.older !== older) return
    open.older = page.nextCursor ?? null
    for (const message of page.items) merge(message)
    drawLoaded()
  }),
)

/** Keeps the message of the highest revision. Events lack the reactions of this person. */
function merge(message) {
  const known = open.messages.get(message.id)
  if (known && !isNewer(message, known)) return
  open.messages.set(message.id, { myReactions: known?.myReactions ?? [], ...message })
}

async function markRead() {
  const newest = [...open.messages.keys()].sort().at(-1)
  const chat = chats.get(open.key)
  if (!newest || !chat || document.hidden || (chat.lastReadId ?? '') >= newest) return
  chat.lastReadId = newest
  chat.hasUnread = false
  drawChats()
  await request('PUT', `${pathOf(open.key)}/read`, { upTo: newest })
}

document.addEventListener('visibilitychange', () => open && markRead().catch(() => {}))

function drawMessages() {
  const list = element('messages')
  const scroller = element('scroller')
  const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80
  const rows = new Map([...list.children].map((row) => [row.dataset.id, row]))
  // A chat is in the order of ids, never in that of arrival.
  const ids = [...open.messages.keys()].sort()
  ids.forEach((id, at) => {
    const message = open.messages.get(id)
    const form = JSON.stringify(message)
    let row = rows.get(id)
    rows.delete(id)
    if (!row) row = make('li', { tabIndex: -1 })
    if (row.dataset.form !== form) {
      row.dataset.id = id
      row.dataset.form = form
      row.className = message.senderId === me.id ? 'own' : ''
      const focused = row.contains(document.activeElement) ? document.activeElement.dataset.kind : null
      // What is equal stays: the log would read it aloud again.
      contentOf(message).forEach((part, at) => {
        const present = row.children[at]
        if (!present) row.append(part)
        else if (!present.isEqualNode(part)) present.replaceWith(part)
      })
      if (focused) (row.querySelector(`[data-kind="${focused}"]`) ?? row.querySelector('button') ?? row).focus()
    }
    if (list.children[at] !== row) list.insertBefore(row, list.children[at] ?? null)
  })
  for (const row of rows.values()) row.remove()
  const older = element('older')
  const isLeft = !open.older && document.activeElement === older
  older.hidden = !open.older
  if (isAtEnd) scroller.scrollTop = scroller.scrollHeight
  // The focus would be lost with the button.
  if (isLeft) list.firstElementChild?.focus()
}

function contentOf(message) {
  const head = make('div', { className: 'head' })
  head.append(make('span', { className: 'sender', textContent: names.get(message.senderId) ?? 'Unknown user' }))
  const time = make('time', { textContent: new Date(message.createdAt).toLocaleString([], { dateStyle: 'short', timeStyle: 'short' }) })
  time.dateTime = message.createdAt
  head.append(time)
  if (message.edited) head.append(make('span', { textContent: 'edited' }))
  const tools = make('div', { className: 'tools' })
  // A count alone does not say which message it belongs to.
  tools.setAttribute('aria-live', 'off')
  if (message.deletedAt) return [head, make('p', { className: 'text gone', textContent: 'This message was deleted.' }), tools]
  for (const [kind, count] of Object.entries(message.reactions ?? {})) {
    const isOn = message.myReactions.includes(kind)
    const button = make('button', { type: 'button', textContent: `${kind} ${count}` })
    button.dataset.kind = kind
    button.setAttribute('aria-pressed', String(isOn))
    button.setAttribute('aria-label', `${kind}, ${count} ${count === 1 ? 'reaction' : 'reactions'}`)
    button.addEventListener('click', () => attempt(() => react(message.id, kind, !isOn)))
    tools.append(button)
  }
  const more = make('button', { type: 'button', textContent: '⋯' })
  more.dataset.kind = 'more'
  more.setAttribute('aria-haspopup', 'dialog')
  more.setAttribute('aria-label', `React to or report the message of ${names.get(message.senderId) ?? 'somebody'}`)
  more.addEventListener('click', () => openActions(message.id))
  tools.append(more)
  return [head, make('p', { className: 'text', textContent: message.content }), tools]
}

element('compose').addEventListener('submit', (event) => {
  event.preventDefault()
  const field = element('content-field')
  const content = field.value
  if (content.trim() === '') return
  attempt(async () => {
    const { key } = open
    // The key makes a repetition after a lost answer harmless.
    const once = { 'idempotency-key': crypto.randomUUID() }
    const path = `${pathOf(key)}/messages`
    const message = await request('POST', path, { content }, once).catch((error) => {
      if (error.status) throw error
      return request('POST', path, { content }, once)
    })
    if (field.value === content) field.value = ''
    if (open?.key === key) open.sent.add(message.id)
    received(key, message)
  })
})

element('content-field').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  element('compose').requestSubmit()
})

// Reactions and reports

async function react(id, kind, on) {
  const message = open.messages.get(id)
  await request(on ? 'PUT' : 'DELETE', `${pathOf(open.key)}/messages/${id}/reactions/${encodeURIComponent(kind)}`)
  const mine = new Set(message.myReactions)
  if (on) mine.add(kind)
  else mine.delete(kind)
  const present = await request('GET', `${pathOf(open.key)}/messages/${id}`)
  merge({ ...present, myReactions: [...mine] })
  drawMessages()
}

function openActions(id) {
  chosen = id
  const message = open.messages.get(id)
  element('actions-title').textContent = `Message of ${names.get(message.senderId) ?? 'somebody'}`
  element('actions-text').textContent = message.content
  element('open-report').hidden = message.senderId === me.id
  const buttons = KINDS.map((kind) => {
    const isOn = message.myReactions.includes(kind)
    const button = make('button', { type: 'button', textContent: kind })
    button.setAttribute('aria-pressed', String(isOn))
    button.addEventListener('click', () => {
      element('actions').close()
      attempt(() => react(id, kind, !isOn))
    })
    return button
  })
  element('kinds').replaceChildren(...buttons)
  element('actions').showModal()
}

element('open-report').addEventListener('click', () => {
  element('actions').close()
  element('report').showModal()
  element('reason').focus()
})

element('cancel-report').addEventListener('click', () => element('report').close())

formOf('report-form', async ({ reason, note }) => {
  element('report').close()
  const report = { kind: 'message', targetId: chosen, chat: open.key, reason }
  if (note.trim() !== '') report.note = note
  await request('POST', '/chat/reports', report)
  announce('The report was sent.')
})

// Notifications

const notifications = new Map()

/** Whether there are unread notifications after those that were loaded. */
let hasMoreUnread = false

async function loadNotifications() {
  const person = me
  const page = await request('GET', '/chat/me/notifications?limit=50')
  // The unread ones come first.
  const mayHaveMore = page.nextCursor && page.items.every((notification) => !notification.read)
  const counted = mayHaveMore ? await request('GET', '/chat/me/notifications/count') : { unread: 0 }
  if (me !== person) return
  hasMoreUnread = counted.unread > page.items.length
  notifications.clear()
  for (const notification of page.items) notifications.set(notification.id, notification)
  drawNotifications()
}

function drawNotifications() {
  const all = [...notifications.values()].sort((one, other) => one.read - other.read || (one.id < other.id ? 1 : -1))
  const unread = all.filter((notification) => !notification.read).length
  element('unread-count').textContent = `${unread}${hasMoreUnread ? '+' : ''} unread`
  element('unread-count').hidden = unread === 0 && !hasMoreUnread
  const list = element('notification-list')
  const buttons = () => [...list.querySelectorAll('button')]
  const focused = document.activeElement
  const place = buttons().indexOf(focused)
  const rows = all.map((notification) => {
    const row = make('li', { className: notification.read ? '' : 'unread' })
    row.append(make('p', { textContent: notification.message }))
    const chat = chatOf(notification.target)
    if (chat) {
      const button = make('button', { type: 'button', textContent: 'Open' })
      button.dataset.action = `open ${notification.id}`
      button.addEventListener('click', () => {
        element('notifications').close()
        attempt(() => openChat(chat))
      })
      row.append(button)
    }
    if (!notification.read) {
      const button = make('button', { type: 'button', textContent: 'Mark as read' })
      button.dataset.action = `read ${notification.id}`
      button.addEventListener('click', () =>
        attempt(async () => {
          const changed = await request('PATCH', `/chat/me/notifications/${notification.id}`, { read: true })
          notifications.set(notification.id, changed)
          drawNotifications()
        }),
      )
      row.append(button)
    }
    return row
  })
  list.replaceChildren(...rows)
  element('no-notifications').hidden = rows.length > 0
  if (place === -1) return
  // In place of a button that is gone, the next one gets the focus.
  const same = buttons().find((button) => button.dataset.action === focused.dataset.action)
  const next = same ?? buttons()[place] ?? element('read-all')
  next.focus()
}

/** Returns the conversation of a target such as `/chat/groupchats/{id}/messages/{id}`. */
function chatOf(target) {
  const [, kind, id] = /^\/chat\/(groupchat|privatechat)s\/([^/]+)/.exec(target ?? '') ?? []
  return chats.has(`${kind}/${id}`) ? `${kind}/${id}` : null
}

element('notifications-button').addEventListener('click', () => element('notifications').showModal())

element('read-all').addEventListener('click', () =>
  attempt(async () => {
    await request('POST', '/chat/me/notifications/read-all')
    await loadNotifications()
  }),
)

// Live

const live = new Live({
  ticket: () => request('POST', '/chat/live/tickets'),
  onState(isConnected) {
    element('connection').textContent = isConnected ? 'Live' : 'Connecting…'
    clearInterval(polling)
    // Without a socket, the open conversation is read again and again.
    polling = isConnected || !me ? null : setInterval(() => poll().catch(() => {}), POLL)
  },
  async onResync() {
    await Promise.all([loadChats(), loadNotifications(), reload()])
  },
  onEvent(event) {
    const person = me
    handled = handled.then(() => handle(event, person)).catch((error) => console.error(error))
  },
})

/** Handles an event of a person, who may sign out meanwhile. */
async function handle(event, person) {
  if (me !== person) return
  switch (event.kind) {
    case 'message.created':
    case 'message.edited':
      await nameOf(event.message.senderId)
      if (me !== person) return
      return received(event.chat, event.message)
    case 'message.deleted':
      return changed(event, { content: null, deletedAt: event.at, reactions: {} })
    case 'reaction': {
      const mine = new Set(open?.messages.get(event.messageId)?.myReactions)
      if (event.userId === me.id) mine[event.on ? 'add' : 'delete'](event.reaction)
      return changed(event, { reactions: event.reactions, myReactions: [...mine] })
    }
    case 'read': {
      // Another window of this person has read the conversation, as far as this one knows it.
      const chat = chats.get(event.chat)
      if (!chat || event.userId !== me.id || (chat.lastReadId ?? '') >= event.upTo) return
      chat.lastReadId = event.upTo
      if ((chat.lastMessage?.id ?? '') <= event.upTo) chat.hasUnread = false
      return drawChats()
    }
    case 'membership':
    case 'chat.changed':
    case 'chat.deleted':
      return reloadChats()
    case 'notification': {
      const { notification } = event
      const known = notifications.get(notification.id)
      if (known && known.rev > notification.rev) return
      notifications.set(notification.id, notification)
      drawNotifications()
      if (!notification.read && !known) announce(notification.message)
      return
    }
    case 'notification.deleted':
      notifications.delete(event.notificationId)
      return drawNotifications()
  }
}

function received(key, message) {
  const chat = chats.get(key)
  // The first message of a private chat may precede the chat in the list.
  if (!chat) return reloadChats()
  const last = chat.lastMessage
  if (!last || last.id < message.id || (last.id === message.id && isNewer(message, last))) chat.lastMessage = message
  if (message.senderId !== me.id && message.id > (chat.lastReadId ?? '')) chat.hasUnread = true
  if (open?.key === key) {
    merge(message)
    drawMessages()
    markRead().catch(() => {})
  }
  drawChats()
}

function isNewer(message, known) {
  return (message.rev ?? 0) >= (known.rev ?? 0)
}

function changed({ chat: key, messageId, rev }, change) {
  const chat = chats.get(key)
  if (chat?.lastMessage?.id === messageId && isNewer({ rev }, chat.lastMessage)) {
    chat.lastMessage = { ...chat.lastMessage, ...change, rev }
    drawChats()
  }
  const known = open?.key === key ? open.messages.get(messageId) : undefined
  if (!known) return
  merge({ ...known, ...change, rev })
  drawMessages()
}

// Elements

function make(tag, properties = {}) {
  return Object.assign(document.createElement(tag), properties)
}

function announce(text) {
  element('announcement').textContent = text
}

if (session && !(await reserve(session))) {
  stored.removeItem('session')
  session = null
  showError('This tab is a copy of another one, which stays signed in. Two tabs cannot share a session: log in here, too.')
}
show(false)
if (session) attempt(signIn)
