import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { isOnNode, serviceAccountOf } from "./service-account-identity.ts";

const USERS: readonly [name: string, account: ReturnType<typeof serviceAccountOf>][] = [
  ["system:serviceaccount:ns:a", { namespace: "ns", name: "a" }],
  ["system:serviceaccount:ns:a.b", { namespace: "ns", name: "a.b" }],
  ["system:serviceaccount:n.s:a", undefined],
  ["system:serviceaccount:ns:A", undefined],
  ["system:serviceaccount:ns:", undefined],
  ["system:serviceaccount:ns", undefined],
  ["system:serviceaccount:ns:a:b", undefined],
  ["system:serviceaccounts:ns:a", undefined],
];

for (const [name, account] of USERS) {
  test(`${name} is ${account === undefined ? "not a service account" : "a service account"}`, () =>
    deepEqual(serviceAccountOf(name), account));
}

const NODE = "authentication.kubernetes.io/node-name";
const ACCOUNT = "system:serviceaccount:ns:a";

const PLACES: readonly [who: string, name: string, nodes: readonly string[] | undefined, asked: string, isThere: boolean][] = [
  ["a service account of that node", ACCOUNT, ["n1"], "n1", true],
  ["a service account of another node", ACCOUNT, ["n2"], "n1", false],
  ["a service account of two nodes", ACCOUNT, ["n1", "n2"], "n1", false],
  ["a service account without a node", ACCOUNT, undefined, "n1", false],
  ["a service account with an empty node name", ACCOUNT, [""], "", false],
  ["a service account without a node, for an empty node name,", ACCOUNT, [], "", false],
  ["a service account with an invalid node name", ACCOUNT, ["N 1"], "N 1", false],
  ["a user that is no service account", "bob", ["n1"], "n1", false],
];

for (const [who, name, nodes, asked, isThere] of PLACES) {
  test(`${who} ${isThere ? "is" : "is not"} on the node`, () => {
    equal(isOnNode({ name, groups: [], ...(nodes === undefined ? {} : { extra: { [NODE]: nodes } }) }, asked), isThere);
  });
}
