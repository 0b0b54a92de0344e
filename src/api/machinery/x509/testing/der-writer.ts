/** DER as a test writes it: elements of elements, broken ones too. */
import { TAG } from "../der.ts";

export type Content = Uint8Array | readonly number[];

export function element(tag: number, ...contents: readonly Content[]): Uint8Array {
  const content = contents.flatMap((part) => [...part]);
  const length =
    content.length < 0x80
      ? [content.length]
      : content.length < 0x100
        ? [0x81, content.length]
        : [0x82, content.length >> 8, content.length & 0xff];
  return Uint8Array.from([tag, ...length, ...content]);
}

export function sequence(...contents: readonly Content[]): Uint8Array {
  return element(TAG.sequence, ...contents);
}

export function set(...contents: readonly Content[]): Uint8Array {
  return element(TAG.set, ...contents);
}

export function integer(...bytes: readonly number[]): Uint8Array {
  return element(TAG.integer, bytes);
}

export function bitString(...contents: readonly Content[]): Uint8Array {
  return element(TAG.bitString, [0], ...contents);
}

export function text(tag: number, value: string): Uint8Array {
  return element(tag, new TextEncoder().encode(value));
}

/** "2.5.4.3" */
export function identifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(TAG.objectIdentifier, [first * 40 + second, ...rest.flatMap(groups)]);
}

/** Seven bits each, the first ones marked. */
function groups(number: number): number[] {
  const bytes = [number % 128];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}
