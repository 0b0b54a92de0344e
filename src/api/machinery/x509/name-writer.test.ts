import assert from "node:assert/strict";
import { test } from "node:test";
import { writeName } from "./name-writer.ts";
import { COMMON_NAME, ORGANIZATION } from "./subject.ts";

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** From Go's asn1.Marshal of pkix.Name.ToRDNSequence. */
const NAMES: readonly [title: string, parts: readonly (readonly [type: string, text: string | undefined])[], der: string][] = [
  ["nothing is an empty name", [], "3000"],
  ["plain letters are a PrintableString", [[COMMON_NAME, "jane"]], "300f310d300b060355040313046a616e65"],
  ["a letter that is not plain makes it UTF-8", [[COMMON_NAME, "a*"]], "300d310b300906035504030c02612a"],
  [
    "organizations are one set in the order of their bytes, before the common name",
    [
      [COMMON_NAME, "x"],
      [ORGANIZATION, "b"],
      [ORGANIZATION, "a"],
    ],
    "302231143008060355040a1301613008060355040a130162310a30080603550403130178",
  ],
  [
    "location attributes precede organization attributes",
    [
      [ORGANIZATION, "x"],
      ["2.5.4.7", "y"],
    ],
    "3018310a30080603550407130179310a3008060355040a130178",
  ],
  [
    "of several common names the last counts, and what is not usual is left out",
    [
      [COMMON_NAME, "a"],
      [COMMON_NAME, "x"],
      ["2.5.4.42", "Jane"],
      [ORGANIZATION, undefined],
    ],
    "300c310a30080603550403130178",
  ],
];

for (const [title, parts, der] of NAMES) {
  test(title, () => {
    const name = writeName(parts.map(([type, text]) => ({ type, text })));

    assert.equal(hex(name), der);
  });
}
