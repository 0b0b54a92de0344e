/** Descriptions of messages that the packages of several drivers share. */
import type { Decoded, MessageDescriptor } from "./messages.ts";

export const nothing = { name: "Nothing", fields: {} } as const satisfies MessageDescriptor;

/** One entry of a map<string, string>; a map is a repeated entry. */
export const entry = {
  name: "Entry",
  fields: { key: { number: 1, type: "string" }, value: { number: 2, type: "string" } },
} as const satisfies MessageDescriptor;
export type Entry = Decoded<typeof entry>;

export function entriesOf(record: Readonly<Record<string, string>>): Entry[] {
  return Object.entries(record).map(([key, value]) => ({ key, value }));
}
