/**
 * A mutation as a resolver: `input` in, the payload out. What the input did wrong goes into
 * `userErrors`; whatever else fails is an error of the operation. Several in one request follow one
 * another, and each shows things as they are after it.
 */
import type { UserError } from '../../schema/generated/resolvers-types.ts'
import { userErrorOf } from '../errors.ts'
import type { RequestContext } from '../graphql/context.ts'

type Payload<Entity> = Entity & { readonly userErrors: readonly UserError[] }

export const mutation =
  <Input, Entity extends object>(
    change: (input: Input, context: RequestContext) => Promise<Entity>,
  ) =>
  async (
    _root: unknown,
    { input }: { readonly input: Input },
    context: RequestContext,
  ): Promise<Payload<Partial<Entity>>> => {
    context.loaders.forget()
    try {
      return { ...(await change(input, context)), userErrors: [] }
    } catch (error) {
      return { ...nothing<Entity>(), userErrors: [userErrorOf(error)] }
    }
  }

/** Fields that are not there are null to GraphQL. */
const nothing = <Entity extends object>(): Partial<Entity> => ({})
