/** The settings of engagement. */
import { declare, int } from '../kernel/settings.ts'

export const engagementSettings = declare('engagement', {
  noteMax: int({
    default: 500,
    min: 0,
    max: 5_000,
    live: true,
    about: 'characters of the note of a report',
  }),
})
