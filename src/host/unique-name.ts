/** Generates unique names. */
import { randomUUID } from "node:crypto";

export function uniqueName(prefix: string): string {
  return `${prefix}${randomUUID()}`;
}
