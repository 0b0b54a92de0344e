import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listenAddresses } from "./listen-addresses.ts";

const LOCAL = ["127.0.0.1", "192.0.2.1", "10.244.0.1", "::1"];

describe("listenAddresses", () => {
  for (const { it: title, family, ranges, local = LOCAL, expected } of [
    { it: "all IPv4", family: 4, ranges: ["0.0.0.0/0", "::/0"], expected: ["0.0.0.0"] },
    { it: "all IPv6", family: 6, ranges: ["0.0.0.0/0", "::/0"], expected: ["::"] },
    { it: "no IPv6 on a machine without it", family: 6, ranges: ["::/0"], local: ["127.0.0.1"], expected: [] },
    { it: "addresses in a range", family: 4, ranges: ["192.0.2.0/24", "127.0.0.0/8"], expected: ["127.0.0.1", "192.0.2.1"] },
    { it: "none of another family", family: 6, ranges: ["192.0.2.0/24"], expected: [] },
  ] as const) {
    it(title, () => assert.deepEqual(listenAddresses(family, ranges, local), expected));
  }
});
