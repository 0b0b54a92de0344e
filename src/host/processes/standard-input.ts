/** Standard input of this process. */

export function standardInput(): AsyncIterable<Uint8Array> {
  return process.stdin;
}
