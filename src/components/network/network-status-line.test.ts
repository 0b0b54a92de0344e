import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { networkStatusLine, parseNetworkStatus } from "./network-status-line.ts";

test("a status line is parsed to the components that it was printed for, and other lines are not", () => {
  const list = [{ name: "proxy", description: 'not running: "nft" [missing]' }];
  deepEqual(parseNetworkStatus(networkStatusLine("node-1", list)), list);
  equal(parseNetworkStatus("registered node node-1"), undefined);
});
