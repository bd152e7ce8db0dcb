// Whether a browser is ever given a body that it did not ask for. A page of another origin asks for one item again and
// again with the browser's usual cache: as JSON, as GeoJSON, and with the token of somebody who sees more. It wants a
// running platform: `npm run representations -- URL TOKEN`, the token that of a `parks-admin`.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { chromium } from 'playwright-core'

const [platform, token] = process.argv.slice(2)
if (platform === undefined || token === undefined) {
  console.error('give the address of the platform, and the token that `cargo cairn token parks-admin` prints')
  process.exit(2)
}

const JSON_TYPE = 'application/json'
const GEOJSON_TYPE = 'application/geo+json'
const authorization = `Bearer ${token}`

/** Makes something as an administrator; returns its path. */
async function create(path, body) {
  const headers = { authorization, 'content-type': JSON_TYPE }
  const answer = await fetch(platform + path, { method: 'POST', headers, body: JSON.stringify(body) })
  assert.equal(answer.status, 201, await answer.text())
  return answer.headers.get('location')
}

const collectionId = `browser_${Date.now()}`
await create('/parks/collections', { collectionId, displayName: 'Strathcona Park', isVisible: true })
const camp = await create(`/parks/facilities/${collectionId}`, {
  facilityType: 'campground',
  displayName: 'Bear Camp',
  location: [-125.5, 49.5],
  isVisible: true,
  adminNotes: 'den nearby',
})

// A page that is served, since a browser keeps nothing for one that is not.
const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<!doctype html>'))
server.listen(0, '127.0.0.1')
await once(server, 'listening')

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})
try {
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${server.address().port}/`)

  // What the browser does by itself: the tags that it sends, and whether it answers from its cache.
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  const seen = { tags: [], fromCache: 0 }
  network.on('Network.requestWillBeSentExtraInfo', ({ headers }) => {
    const tag = Object.entries(headers).find(([name]) => name.toLowerCase() === 'if-none-match')
    if (tag !== undefined) seen.tags.push(tag[1])
  })
  network.on('Network.responseReceived', ({ response }) => {
    if (response.url.endsWith(camp) && response.fromDiskCache) seen.fromCache += 1
  })
  network.on('Network.requestServedFromCache', () => (seen.fromCache += 1))

  const ask = (headers) =>
    page.evaluate(
      async ([url, headers]) => {
        const answer = await fetch(url, { headers })
        const [type, tag] = ['content-type', 'etag'].map((name) => answer.headers.get(name))
        return { status: answer.status, type, tag, body: await answer.json() }
      },
      [platform + camp, headers],
    )

  const forVisitors = (item) => item.displayName === 'Bear Camp' && item.adminNotes === undefined
  const forAdministrators = (item) => item.displayName === 'Bear Camp' && item.adminNotes === 'den nearby'
  const asJson = (answer, right) => answer.type === JSON_TYPE && right(answer.body)
  const asGeoJson = (answer, right) =>
    answer.type === GEOJSON_TYPE && answer.body.type === 'Feature' && right(answer.body.properties)

  const steps = [
    ['a visitor asks for JSON', { accept: JSON_TYPE }, (answer) => asJson(answer, forVisitors)],
    ['and again', { accept: JSON_TYPE }, (answer) => asJson(answer, forVisitors)],
    ['then for GeoJSON', { accept: GEOJSON_TYPE }, (answer) => asGeoJson(answer, forVisitors)],
    ['signs in', { accept: JSON_TYPE, authorization }, (answer) => asJson(answer, forAdministrators)],
    ['asks for GeoJSON', { accept: GEOJSON_TYPE, authorization }, (answer) => asGeoJson(answer, forAdministrators)],
    ['signs out', { accept: JSON_TYPE }, (answer) => asJson(answer, forVisitors)],
  ]
  const tags = new Set()
  for (const [what, headers, right] of steps) {
    const answer = await ask(headers)
    assert.ok(answer.status === 200 && right(answer), `${what}: ${JSON.stringify(answer)}`)
    tags.add(answer.tag)
    if (what === 'and again') assert.ok(seen.fromCache > 0, 'the browser keeps nothing, so this shows nothing')
    console.log(`   ${what}: ${answer.type} ${answer.tag}`)
  }
  assert.equal(tags.size, 4, 'each representation has a tag of its own')
  assert.ok(seen.tags.length > 0, 'the browser never asks whether what it has is still right, so this shows nothing')
} finally {
  await browser.close()
  server.close()
}
