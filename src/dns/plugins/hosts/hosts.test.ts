import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { answerText, query, type TypeName } from "../../testing/plugin-context.ts";
import { answerHosts } from "./hosts.ts";
import { parseHosts } from "./hosts-table.ts";

const FILE = `
# a comment
192.0.2.1 Router router.home.
192.0.2.2 router # the second
2001:db8::1 router
not-an-address x
192.0.2.3
`;

test("names of the file are answered, others are not", () => {
  const table = parseHosts(FILE);
  const cases: readonly [string, TypeName, string | undefined][] = [
    ["router", "A", "NOERROR router 30 A 192.0.2.1; router 30 A 192.0.2.2"],
    ["router", "AAAA", "NOERROR router 30 AAAA 20010db8000000000000000000000001"],
    ["router.home", "AAAA", "NOERROR"],
    ["1.2.0.192.in-addr.arpa", "PTR", "NOERROR 1.2.0.192.in-addr.arpa 30 PTR router; 1.2.0.192.in-addr.arpa 30 PTR router.home"],
    ["3.2.0.192.in-addr.arpa", "PTR", undefined],
    ["x", "A", undefined],
    ["other", "A", undefined],
  ];
  deepEqual(
    cases.map(([name, type]) => {
      const answer = answerHosts(query(name, type), table, 30);
      return [name, type, answer === undefined ? undefined : answerText(answer)];
    }),
    cases,
  );
});
