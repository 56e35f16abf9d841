import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Event, isA, PostCreated, topics } from '../../services/kernel/events.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { engines } from '../kit/engines.ts'
import { Person, postsOf, see, textsOf } from '../kit/people.ts'
import { World } from '../kit/world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const heard: Event[] = []
const listener = defineWorker({
  name: 'listener',
  role: 'audit',
  topic: topics.posts,
  handlers: [on(PostCreated, async (event) => void heard.push(event))],
})

describe.each(engines)('making posts on %s', (engine) => {
  let world: World
  let ada: Person
  let bo: Person
  beforeAll(async () => {
    heard.length = 0
    world = await World.open({ engine, workers: [listener] })
    ada = await Person.signUp(world, 'ada')
    bo = await Person.signUp(world, 'bo')
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  test('POS-1: a post is there at once, for its author, for others and for nobody', async () => {
    const post = await ada.posts('first light ☀️')
    expect(post).toMatchObject({
      ...{ text: 'first light ☀️', visibility: 'PUBLIC', editedAt: null, link: null },
      author: { handle: 'ada' },
      createdAt: new Date(world.clock.now()).toISOString(),
    })
    for (const who of [ada, bo, undefined]) {
      expect(await see(world, who, post.id)).toMatchObject({ id: post.id, text: post.text })
    }
    expect(textsOf(await postsOf(world, undefined, 'ada'))).toEqual(['first light ☀️'])
  })

  test('POS-2: it is announced under its own id and the key of its author, without its text', async () => {
    const post = await ada.posts('announce me')
    await world.settle()
    const events = heard.filter((event) => isA(event, PostCreated))
    const event = events.at(-1)
    expect(event?.data['postId']).toBe(event?.id)
    expect(Buffer.from(post.id, 'base64url').toString()).toBe(`Post:${event?.id}`)
    expect(event?.key).toBe(String(event?.data['authorId']))
    expect(JSON.stringify(event, (_name, value) => `${value}`)).not.toContain('announce me')
  })
})
