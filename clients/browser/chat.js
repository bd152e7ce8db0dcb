// The web client of chat in two windows: two people talk, see each other's messages without reloading, react, report and
// are notified, with the keyboard alone. A third person registers, copies the window and signs out. It wants a running
// platform and the tokens of two people who are new to chat: `npm run chat -- URL TOKEN TOKEN [FOLDER]`. With a folder, it
// keeps pictures of the windows in both colour schemes.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const [platform, ...rest] = process.argv.slice(2)
const [tokens, folder] = [rest.slice(0, 2), rest[2]]
if (platform === undefined || tokens.length < 2) {
  console.error('give the address of the platform, and two tokens that `cargo cairn token --subject NAME` prints')
  process.exit(2)
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})

/**
 * Signs a person in, with the keyboard. The window gets the ticket for its socket once `connects` is settled, and the first
 * frame of the type `loses` does not reach it. Returns the page and the username.
 */
async function signIn(token, connects = Promise.resolve(), loses = null) {
  // One browser with two windows: each has its own person.
  const page = await context.newPage()
  await page.route(/\/chat\/live\/tickets$/, (route) => connects.then(() => route.continue()))
  await page.routeWebSocket(/./, (socket) => {
    const link = { socket, server: socket.connectToServer(), joined: null }
    sockets.push(link)
    link.server.onMessage((text) => {
      const frame = JSON.parse(text)
      if (frame.type === loses) {
        loses = null
        // A client subscribes again to a feed that was not confirmed between two checks of the heads.
        const pong = JSON.stringify({ type: 'pong', id: 'heads', heads: { [frame.feed]: frame.head } })
        socket.send(pong)
        socket.send(pong)
        return
      }
      if (frame.type === 'events' && link.joined) {
        link.joined.push(...frame.events)
        if (!frame.events.some(({ kind }) => kind === 'message.deleted')) return
        frame.events = link.joined
        link.joined = null
      }
      socket.send(JSON.stringify(frame))
    })
  })
  page.on('pageerror', (error) => assert.fail(error.stack))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  await page.goto(`${platform}/chat/app`)
  await page.getByRole('textbox', { name: 'Token' }).focus()
  await page.keyboard.insertText(token)
  await page.keyboard.press('Enter')
  const account = page.locator('#me')
  await account.filter({ hasText: '@' }).waitFor()
  return { page, username: (await account.innerText()).split('@')[1] }
}

async function picture(page, name) {
  if (folder === undefined) return
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

const problems = []
const context = await browser.newContext({ viewport: { width: 1000, height: 700 } })
/**
 * The sockets of the windows, so that the test can cut them. Events that are `joined` reach the window in one frame, up to
 * the next deletion of a message.
 */
const sockets = []
const step = (what) => console.log(`   ${what}`)
try {
  const visitor = await context.newPage()
  await visitor.goto(`${platform}/chat/app`)
  await picture(visitor, 'sign-in')
  await visitor.close()

  const ann = await signIn(tokens[0])
  // What happens between the first load of a window and its subscription must not be missed, also if its subscription is
  // confirmed by a frame that is lost.
  let connect
  const bob = await signIn(tokens[1], new Promise((resolve) => (connect = resolve)), 'subscribed')
  step('two people have signed in')

  const message = (window, text) => window.page.getByRole('listitem').filter({ hasText: text })
  const start = ann.page.getByRole('textbox', { name: 'Talk to a person' })
  await start.focus()
  await ann.page.keyboard.insertText(bob.username)
  await ann.page.keyboard.press('Enter')
  await ann.page.locator('#content-field:focus').waitFor()
  const first = 'Good morning! <b>Is the ferry running?</b>'
  await ann.page.keyboard.insertText(first)
  await ann.page.keyboard.press('Enter')
  await ann.page.getByRole('log').getByText(first).waitFor()
  const headers = { authorization: `Bearer ${tokens[1]}` }
  const notified = async () => (await (await fetch(`${platform}/chat/me/notifications`, { headers })).json()).items.length > 0
  const until = Date.now() + 20_000
  while (Date.now() < until && !(await notified())) await ann.page.waitForTimeout(100)
  assert.ok(await notified(), 'the second person has no notification')
  connect()
  step('one has written to the other')

  const conversation = bob.page.getByRole('navigation', { name: 'Conversations' }).getByRole('button', { name: /unread/ })
  await conversation.waitFor({ timeout: 20_000 })
  await conversation.focus()
  await bob.page.keyboard.press('Enter')
  await bob.page.getByRole('log').getByText(first).waitFor()
  await bob.page.locator('#content-field:focus').waitFor()
  await bob.page.keyboard.insertText('It is, every hour.')
  await bob.page.keyboard.press('Shift+Enter')
  await bob.page.keyboard.insertText('Shall we go?')
  await bob.page.keyboard.press('Enter')
  const second = 'It is, every hour.\nShall we go?'
  await ann.page.getByRole('log').getByText(second.split('\n')[1]).waitFor({ timeout: 20_000 })
  const shown = await message(ann, 'every hour').locator('.text').textContent()
  assert.equal(shown, second, 'the text comes back as it was written')
  step('the answer is shown in the other window without a reload')

  // The log would read a message again that is replaced.
  const text = await message(ann, 'ferry').locator('.text').elementHandle()
  const actions = message(bob, 'ferry').getByRole('button', { name: /React to or report/ })
  await actions.focus()
  await bob.page.keyboard.press('Enter')
  await bob.page.getByRole('dialog').getByRole('button', { name: '👍' }).focus()
  await picture(bob.page, 'actions')
  await bob.page.keyboard.press('Enter')
  const reaction = (window) => message(window, 'ferry').getByRole('button', { name: '👍, 1 reaction' })
  await reaction(ann).waitFor({ timeout: 20_000 })
  assert.equal(await reaction(ann).getAttribute('aria-pressed'), 'false')
  assert.ok(await text.evaluate((element) => element.isConnected), 'the text of the message was replaced')
  await bob.page.waitForFunction(() => document.querySelector('#messages [aria-pressed]')?.getAttribute('aria-pressed') === 'true')
  step('a reaction is shown in both windows, pressed for the one who reacted')

  // What is written while the connection is lost comes with the next one, and nothing is loaded again.
  let reloads = 0
  bob.page.on('request', (request) => (reloads += /\/messages\?/.test(request.url()) ? 1 : 0))
  assert.ok(sockets.length >= 2, 'the windows have no sockets')
  for (const { socket, server } of sockets.splice(0)) {
    await socket.close()
    await server.close()
  }
  const field = ann.page.locator('#content-field')
  for (const text of ['One.', 'Two.', 'Three.']) {
    await field.focus()
    await ann.page.keyboard.insertText(text)
    await ann.page.keyboard.press('Enter')
    await ann.page.getByRole('log').getByText(text).waitFor()
  }
  await bob.page.getByRole('log').getByText('Three.').waitFor({ timeout: 20_000 })
  const texts = await bob.page.locator('#messages .text').allTextContents()
  assert.deepEqual(texts, [first, second, 'One.', 'Two.', 'Three.'])
  assert.equal(reloads, 0, 'the window has loaded messages again')
  const patience = Date.now() + 20_000
  while (sockets.length < 2 && Date.now() < patience) await ann.page.waitForTimeout(100)
  assert.ok(sockets.length >= 2, 'the windows have not connected again')
  step('after a lost connection nothing is missing, twice or loaded again')

  await actions.focus()
  await bob.page.keyboard.press('Enter')
  await bob.page.getByRole('button', { name: 'Report…' }).focus()
  await bob.page.keyboard.press('Enter')
  await bob.page.getByRole('combobox', { name: 'Reason' }).selectOption('other')
  await bob.page.getByRole('textbox', { name: 'Note' }).focus()
  await bob.page.keyboard.insertText('Only a test.')
  await picture(bob.page, 'report')
  await bob.page.getByRole('button', { name: 'Send the report' }).focus()
  await bob.page.keyboard.press('Enter')
  await bob.page.getByRole('status').filter({ hasText: 'The report was sent.' }).waitFor()
  step('a message is reported')

  // The name of everything that can be operated is known to a screen reader.
  for (const window of [ann, bob]) {
    const unnamed = await window.page.$$eval('button, input, textarea, select', (elements) =>
      elements.filter((element) => {
        const label = element.labels?.[0]?.textContent ?? element.getAttribute('aria-label') ?? element.textContent
        return label.trim() === ''
      }).length,
    )
    assert.equal(unnamed, 0, 'something has no name')
  }
  const tree = await ann.page.locator('body').ariaSnapshot()
  assert.match(tree, /log "Messages":\s+- list:\s+- listitem/)
  for (const part of ['banner', 'main', 'navigation "Conversations"', 'log "Messages"', 'textbox "Message"', 'button "Send"']) {
    assert.ok(tree.includes(part), `${part} is missing in\n${tree}`)
  }
  step('everything has a role and a name')

  await bob.page.getByRole('button', { name: /^Notifications/ }).focus()
  await bob.page.keyboard.press('Enter')
  const notifications = bob.page.getByRole('dialog', { name: 'Notifications' })
  const unread = notifications.getByRole('button', { name: 'Mark as read' })
  await unread.waitFor({ timeout: 20_000 })
  await picture(bob.page, 'notifications')
  await unread.focus()
  await bob.page.keyboard.press('Enter')
  await unread.waitFor({ state: 'detached' })
  await notifications.locator('button:focus').waitFor()
  await bob.page.keyboard.press('Escape')
  step('the focus stays among the notifications when one is read')

  // With three messages on a page, the first two are on the last page.
  await bob.page.route(/\/messages\?limit=50/, (route) =>
    route.continue({ url: route.request().url().replace('limit=50', 'limit=3') }),
  )
  await bob.page.reload()
  await bob.page.getByRole('navigation', { name: 'Conversations' }).getByRole('listitem').getByRole('button').focus()
  await bob.page.keyboard.press('Enter')
  await bob.page.locator('#content-field:focus').waitFor()
  const older = bob.page.getByRole('button', { name: 'Load older messages' })
  await older.focus()
  await bob.page.keyboard.press('Enter')
  await bob.page.locator('#messages li:focus').filter({ hasText: first }).waitFor()
  assert.ok(await older.isHidden())
  step('the focus is on the first message when no older ones are left')

  await picture(ann.page, 'conversation')
  await ann.page.setViewportSize({ width: 390, height: 800 })
  await picture(ann.page, 'narrow')
  await ann.page.setViewportSize({ width: 1000, height: 700 })

  // Colours have enough contrast for text in both schemes (WCAG 2.2, 4.5 to 1).
  for (const colorScheme of ['light', 'dark']) {
    await ann.page.emulateMedia({ colorScheme })
    const lowest = await ann.page.evaluate(() => {
      const style = getComputedStyle(document.documentElement)
      const channels = (name) => [1, 3, 5].map((at) => parseInt(style.getPropertyValue(name).trim().slice(at, at + 2), 16) / 255)
      const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
      const luminance = (name) => channels(name).map(linear).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0)
      const contrast = ([one, other]) => {
        const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b)
        return (high + 0.05) / (low + 0.05)
      }
      const grounds = ['--ground', '--raised', '--own']
      const pairs = ['--text', '--quiet'].flatMap((text) => grounds.map((ground) => [text, ground]))
      return Math.min(...[...pairs, ['--on-accent', '--accent'], ['--danger', '--raised']].map(contrast))
    })
    assert.ok(lowest >= 4.5, `the contrast is ${lowest} in the ${colorScheme} scheme`)
  }
  step('the contrast suffices in both colour schemes')

  // A message and its deletion come in one frame.
  for (const { page } of [ann, bob]) await page.locator('#connection').filter({ hasText: 'Live' }).waitFor()
  for (const link of sockets) link.joined = []
  const privateChats = await context.request.get(`${platform}/chat/me/privatechats`, { headers })
  const [{ id: chat }] = (await privateChats.json()).items
  const messages = `${platform}/chat/privatechats/${chat}/messages`
  const once = { ...headers, 'idempotency-key': crypto.randomUUID() }
  const sent = await context.request.post(messages, { headers: once, data: { content: 'Never mind.' } })
  const { id } = await sent.json()
  const deleted = await context.request.delete(`${messages}/${id}`, { headers })
  assert.equal(deleted.status(), 204)
  for (const { page } of [ann, bob]) {
    const log = page.getByRole('log')
    await log.getByText('This message was deleted.').waitFor({ timeout: 20_000 })
    assert.equal(await log.getByText('Never mind.').count(), 0)
  }
  step('a message that is deleted at once is shown as deleted')

  // The person who joins another group chat loads the open one again, while a message there is edited.
  const ask = async (method, path, token, data) => {
    const authorization = `Bearer ${token}`
    const options = { method, headers: { authorization, 'idempotency-key': crypto.randomUUID() }, data }
    const answer = await context.request.fetch(`${platform}${path}`, options)
    const text = await answer.text()
    assert.ok(answer.ok(), `${method} ${path} is answered with ${answer.status()}: ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
  const community = await ask('POST', '/chat/communities', tokens[1], { name: 'Harbour', topic: 'Ships' })
  await ask('PUT', `/chat/communities/${community.id}/members/me`, tokens[0])
  const groups = `/chat/communities/${community.id}/groupchats`
  const crew = await ask('POST', groups, tokens[1], { name: 'Crew' })
  const guests = await ask('POST', groups, tokens[1], { name: 'Guests' })
  const join = (group) => ask('PUT', `/chat/groupchats/${group.id}/members/me`, tokens[0])
  await join(crew)
  const opened = ann.page.getByRole('navigation', { name: 'Conversations' }).getByRole('button', { name: 'Crew' })
  await opened.waitFor({ timeout: 20_000 })
  await opened.focus()
  await ann.page.keyboard.press('Enter')
  await ann.page.locator('#content-field:focus').waitFor()
  const annsLog = ann.page.getByRole('log')
  // The first one may be shown by a load. Once the other one is shown, the feed of the group chat is live.
  let draft
  for (const content of ['We sail soon.', 'We sail at six.']) {
    draft = await ask('POST', `/chat/groupchats/${crew.id}/messages`, tokens[1], { content })
    await annsLog.getByText(content).waitFor({ timeout: 20_000 })
  }
  const loads = new RegExp(`/groupchats/${crew.id}/messages\\?`)
  const editMeanwhile = async (route) => {
    const response = await route.fetch()
    const page = await response.json()
    await ask('PATCH', `/chat/groupchats/${crew.id}/messages/${draft.id}`, tokens[1], { content: 'We sail at ten.' })
    await annsLog.getByText('We sail at ten.').waitFor({ timeout: 20_000 })
    // The button for older messages shows that the page was used.
    await route.fulfill({ response, json: { ...page, nextCursor: 'older' } })
  }
  await ann.page.route(loads, editMeanwhile, { times: 1 })
  await join(guests)
  await ann.page.getByRole('button', { name: 'Load older messages' }).waitFor({ timeout: 20_000 })
  const kept = await ann.page.locator('#messages .text').allTextContents()
  assert.deepEqual(kept, ['We sail soon.', 'We sail at ten.'])
  step('a message that is edited while messages are loaded again stays as edited')

  await bob.page.getByRole('button', { name: 'Sign out' }).focus()
  await bob.page.keyboard.press('Enter')
  await bob.page.getByRole('textbox', { name: 'Token' }).waitFor()
  const left = await bob.page.locator('body').textContent()
  for (const text of ['ferry', 'Three.', ann.username, bob.username]) {
    assert.ok(!left.includes(text), `the page still has ${text}`)
  }
  step('nothing of the conversation is in the page after signing out')

  // Without the collection of problems: a refused token is one.
  const carol = await context.newPage()
  carol.on('pageerror', (error) => assert.fail(error.stack))
  await carol.goto(`${platform}/chat/app`)
  const username = `window${Date.now()}`
  const fields = { username, name: 'Third Person', email: `${username}@example.org`, password: 'moss on windows' }
  for (const [name, value] of Object.entries(fields)) await carol.locator(`#register [name=${name}]`).fill(value)
  await carol.keyboard.press('Enter')
  const account = carol.locator('#me').filter({ hasText: username })
  await account.waitFor()
  const session = () => JSON.parse(sessionStorage.getItem('session'))
  const { refreshToken } = await carol.evaluate(session)

  // The window has a copy of the storage, as a duplicated tab has.
  const [copy] = await Promise.all([context.waitForEvent('page'), carol.evaluate(() => void window.open('/chat/app'))])
  await copy.getByRole('alert').filter({ hasText: 'This tab is a copy' }).waitFor()
  await copy.getByRole('button', { name: 'Log in' }).waitFor()
  assert.equal(await copy.evaluate(session), null)
  await carol.reload()
  await account.waitFor()
  assert.equal((await carol.evaluate(session)).refreshToken, refreshToken)
  await copy.close()
  step('a copied window asks to log in, and the first one stays signed in')

  const current = '**/chat/me/sessions/current'
  // Ten minutes later, the access token is refused.
  const expire = (route) => route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer expired' } })
  await carol.route(current, expire, { times: 1 })
  const statuses = []
  carol.on('response', (response) => response.request().method() === 'DELETE' && statuses.push(response.status()))
  const ended = carol.waitForResponse((response) => response.request().method() === 'DELETE' && response.ok())
  await carol.getByRole('button', { name: 'Sign out' }).focus()
  await carol.keyboard.press('Enter')
  await carol.getByRole('button', { name: 'Log in' }).waitFor()
  await ended
  assert.deepEqual(statuses, [401, 204])
  const refreshed = await context.request.post(`${platform}/chat/sessions/refresh`, { data: { refreshToken } })
  assert.equal(refreshed.status(), 401, 'the session has not ended')
  step('signing out with an expired access token ends the session')
  assert.deepEqual(problems, [], 'the browser has complained')
} finally {
  await browser.close()
}
