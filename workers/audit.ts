/** Keeps every change of a setting in the audit trail. */
import { SettingChanged, topics } from '../services/kernel/events.ts'
import { defineWorker, on } from './kit.ts'

export const audit = defineWorker({
  name: 'audit',
  role: 'audit',
  topic: topics.operations,
  // Replays are harmless: an entry is keyed by the id of its event.
  handlers: [on(SettingChanged, (event, { services }) => services.settings.record(event))],
})
