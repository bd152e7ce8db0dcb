// The tour of the README, taken with the client that is generated from the API description of parks. It wants a
// platform with the small sample on which the tour was not yet taken: `npm run tour -- URL TOKEN`.

import assert from 'node:assert/strict'

import { answered, CURSOR, ENTITY_TAG, ID, only, refused, soon, TIME } from './expect.js'
import { createClient } from './generated/parks/client/index.js'
import { createCollection, createGeozone, search, suggest, updateGeozone } from './generated/parks/index.js'
import type { Found, FoundFeatures, NewGeozone } from './generated/parks/index.js'

const [baseUrl, token] = process.argv.slice(2)
if (baseUrl === undefined || token === undefined) {
  console.error('give the address of the platform, and the token that `cargo cairn token parks-admin` prints')
  process.exit(2)
}

const visitor = createClient({ baseUrl })
const administrator = createClient({ baseUrl, auth: token })

const geozone: NewGeozone = {
  displayName: 'Bedwell Lakes',
  isVisible: true,
  location: [-125.589, 49.498],
  searchTerms: ['cream lake'],
  boundary: {
    type: 'Polygon',
    coordinates: [[[-125.7, 49.4], [-125.5, 49.4], [-125.5, 49.6], [-125.7, 49.6], [-125.7, 49.4]]],
  },
}

const steps: Record<string, () => Promise<void>> = {
  'a half-remembered name finds what it means': async () => {
    const found = answered(await search({ client: visitor, query: { q: 'seljalandsfos' } }), 200)
    const { globalId, sk, number, ...item } = only(found.items)
    assert.match(globalId, ID)
    assert.equal(sk, `naturalFeature::${number}`)
    assert.deepEqual(item, {
      entity: 'facility',
      pk: 'facility::iceland_waters',
      collectionId: 'iceland_waters',
      type: 'naturalFeature',
      subType: 'waterfall',
      displayName: 'Seljalandsfoss',
      location: [-19.988279107103413, 63.61544863104326],
      highlights: { name: [[{ text: 'Seljalandsfoss', hit: true }]] },
    })
    assert.deepEqual(found.total, { value: 1, exact: true })
  },

  'names for what has been typed so far': async () => {
    const { items } = answered(await suggest({ client: visitor, query: { q: 'mammo' } }), 200)
    const { globalId, sk, ...item } = only(items)
    assert.match(globalId, ID)
    assert.match(sk, /^accessPoint::\d+$/)
    assert.deepEqual(item, {
      displayName: 'Mammoth Yosemite',
      entity: 'facility',
      pk: 'facility::us_west_airports',
      collectionId: 'us_west_airports',
      type: 'accessPoint',
      location: [-118.8377722, 37.62404861],
    })
  },

  'the areas that contain a point, the smallest first': async () => {
    const found = answered(await search({ client: visitor, query: { near: [-107.5, 43], radius: 1 } }), 200)
    const told = found.items.map((item) => [item.displayName, item.pk, item.boundaryStatus, item.distanceMetres])
    assert.deepEqual(told, [
      ['Natrona, Wyoming', 'geozone::us_counties', 'full', 58109.8],
      ['Wyoming', 'geozone::us_states', 'full', 3912.4],
      ['United States of America', 'geozone::countries', 'full', 920908.9],
    ])
    assert.deepEqual(found.items[1]?.location, [-107.5481034, 43.0005845])
    assert.deepEqual(found.items[1]?.envelope, [
      -111.05843295392954, 40.995109653686534, -104.05213107971079, 45.006059349083486,
    ])
    assert.deepEqual(found.total, { value: 3, exact: true })
  },

  'what a map shows in a box, as GeoJSON': async () => {
    const answer = await search({
      client: visitor,
      headers: { Accept: 'application/geo+json' },
      query: { bbox: [-21, 64, -19, 65], type: ['campground'], limit: 1 },
    })
    assert.equal(answer.response.headers.get('content-type'), 'application/geo+json')
    const found = answered(answer, 200)
    assert.ok(isGeoJson(found), 'the answer is a FeatureCollection')
    assert.equal(found.type, 'FeatureCollection')
    const feature = only(found.features)
    assert.match(feature.id, ID)
    assert.deepEqual(feature.geometry, { type: 'Point', coordinates: [-19.885936704129186, 64.2716025807995] })
    assert.deepEqual(feature.bbox, [-19.885936704129186, 64.2716025807995, -19.885936704129186, 64.2716025807995])
    assert.equal(feature.properties.displayName, 'Tangatjaldstaður')
    assert.equal(feature.properties.subType, 'tentSite')
    assert.deepEqual([found.numberMatched, found.numberReturned], [2, 1])
    assert.match(found.timeStamp, TIME)
    const next = only(found.links)
    assert.deepEqual([next.rel, next.type], ['next', 'application/geo+json'])
    assert.match(next.href, /^\/parks\/search\?bbox=-21,64,-19,65&cursor=[\w-]+&limit=1&type=campground$/)
  },

  'counts come with the first page, and a cursor for the next': async () => {
    const query = { collectionId: ['us_west_airports'], facets: ['subType' as const], limit: 1 }
    const found = answered(await search({ client: visitor, query }), 200)
    const first = only(found.items)
    assert.equal(first.displayName, 'Aberdeen Municipal')
    assert.deepEqual(found.total, { value: 25, exact: true })
    assert.deepEqual(found.facets?.['subType'], [
      { value: 'airport', count: 20 },
      { value: 'seaplaneBase', count: 3 },
      { value: 'heliport', count: 1 },
    ])
    const cursor = found.nextCursor ?? ''
    assert.match(cursor, CURSOR)
    const next = answered(await search({ client: visitor, query: { ...query, cursor } }), 200)
    assert.notEqual(only(next.items).globalId, first.globalId)
  },

  'a collection is made under the name it will always have': async () => {
    const body = { collectionId: 'bcparks_1', displayName: 'Strathcona Park', isVisible: true }
    const answer = await createCollection({ client: administrator, body })
    const { globalId, createdAt, updatedAt, ...item } = answered(answer, 201)
    assert.match(globalId, ID)
    assert.match(createdAt ?? '', TIME)
    assert.equal(updatedAt, createdAt)
    assert.deepEqual(item, {
      pk: 'collection',
      sk: 'bcparks_1',
      entity: 'collection',
      ...body,
      isDeleted: false,
      createdBy: 'local:parks-admin',
      updatedBy: 'local:parks-admin',
    })
  },

  'all that is wrong with a body is told at once, and where': async () => {
    const body: NewGeozone = {
      displayName: 'Bedwell Lakes',
      isVisible: true,
      location: [49.498, -125.589],
      boundary: {
        type: 'Polygon',
        coordinates: [[[-125.7, 49.4], [-125.5, 49.6], [-125.5, 49.4], [-125.7, 49.6], [-125.7, 49.4]]],
      },
    }
    const answer = await createGeozone({ client: administrator, path: { collection: 'bcparks_1' }, body })
    const problem = refused(answer, 400)
    assert.equal(problem.type, 'urn:cairn:problem:bad-request')
    assert.deepEqual(problem.errors, [
      {
        detail: 'the edge that ends here crosses an earlier edge of its ring near (-125.6, 49.5)',
        pointer: '/boundary/coordinates/0/3',
      },
      {
        detail: 'must be a latitude of -90 to 90; longitude comes first, so the coordinates may be swapped',
        pointer: '/location/1',
      },
    ])
  },

  'mended, it becomes geozone 1 of its collection, with an entity tag': async () => {
    const answer = await createGeozone({ client: administrator, path: { collection: 'bcparks_1' }, body: geozone })
    const { displayName, envelope, location, number, pk, sk } = answered(answer, 201)
    assert.equal(answer.response.headers.get('location'), '/parks/geozones/bcparks_1/1')
    assert.match(answer.response.headers.get('etag') ?? '', ENTITY_TAG)
    assert.deepEqual([pk, sk, number, displayName], ['geozone::bcparks_1', '1', 1, 'Bedwell Lakes'])
    assert.deepEqual(location, [-125.589, 49.498])
    assert.deepEqual(envelope, [-125.7, 49.4, -125.5, 49.6])
  },

  'it is found, also by what else people call it': () =>
    soon(async () => {
      const found = answered(await search({ client: visitor, query: { q: 'cream' } }), 200)
      const { displayName, pk, boundaryStatus, highlights } = only(found.items)
      assert.deepEqual([displayName, pk, boundaryStatus], ['Bedwell Lakes', 'geozone::bcparks_1', 'full'])
      assert.deepEqual(highlights, {
        searchTerms: [[{ text: 'cream', hit: true }, { text: ' lake', hit: false }]],
      })
      assert.deepEqual(found.total, { value: 1, exact: true })
    }),

  'a change that was decided on an older state does not overwrite a newer one': async () => {
    const answer = await updateGeozone({
      client: administrator,
      path: { collection: 'bcparks_1', number: '1' },
      headers: { 'If-Match': '"1"' },
      body: { description: 'Two lakes below Big Interior Mountain.' },
    })
    const problem = refused(answer, 412)
    assert.deepEqual([problem.type, problem.status], ['urn:cairn:problem:stale', 412])
    assert.equal(problem.title, 'Precondition failed')
  },
}

/** The same operation answers either; the generated type is that of JSON, which it gives unless asked otherwise. */
function isGeoJson(found: Found | FoundFeatures): found is FoundFeatures {
  return 'features' in found
}

for (const [step, take] of Object.entries(steps)) {
  try {
    await take()
  } catch (error) {
    console.error(`not so: ${step}`)
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
  console.log(`ok: ${step}`)
}
