/** V8 copies shorter pieces of a text anyway. */
const SLICE_LENGTH_MIN = 13;

/** A piece of a text that does not keep the whole text in memory, as a slice would: objects live much longer than their bodies. */
export function detached(text: string): string {
  return text.length < SLICE_LENGTH_MIN ? text : ` ${text}`.slice(1);
}
