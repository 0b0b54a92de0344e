/** Fields that several routes have. */
import type { TextField } from "./fields.ts";

/** Of snapshots and forks: parts of URLs. */
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

export const nameField = {
  type: "string",
  doc: "Name: lower-case letters, digits and dashes, at most 63 characters.",
  pattern: NAME,
  expected: "a name of lower-case letters, digits and dashes",
  lengthMax: 63,
} as const satisfies TextField;
