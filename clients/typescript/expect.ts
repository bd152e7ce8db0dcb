// What the tour expects of answers, beside what `assert` has.

import assert from 'node:assert/strict'

/** What differs each time. */
export const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
export const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d+Z$/
export const CURSOR = /^[\w-]+$/
export const ENTITY_TAG = /^"\d+"$/

/** How long a write may take until it is found, in milliseconds. */
const PATIENCE = 10_000

/** The one entry of a list. */
export function only<T>(list: T[]): T {
  const [first, ...others] = list
  assert.ok(first !== undefined && others.length === 0, `one entry is expected, and there are ${list.length}`)
  return first
}

/** What a successful answer carries. */
export function answered<T>(answer: { data?: T; error?: unknown; response: Response }, status: number): T {
  assert.equal(answer.response.status, status, JSON.stringify(answer.error))
  assert.ok(answer.data !== undefined, 'the answer has a body')
  return answer.data
}

/** The problem that a refusal carries. */
export function refused<T>(answer: { error?: T; response: Response }, status: number): T {
  assert.equal(answer.response.status, status)
  assert.equal(answer.response.headers.get('content-type'), 'application/problem+json')
  assert.ok(answer.error !== undefined, 'the refusal says why')
  return answer.error
}

/** Checks again and again until all is as it should be, or patience ends. */
export async function soon(check: () => Promise<void>): Promise<void> {
  const end = Date.now() + PATIENCE
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || Date.now() > end) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
