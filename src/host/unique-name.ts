/** Names that nobody else has chosen, nor will. */
import { randomUUID } from "node:crypto";

export function uniqueName(prefix: string): string {
  return `${prefix}${randomUUID()}`;
}
