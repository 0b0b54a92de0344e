import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { CauseItem } from "./explain-api.ts";
import { Trace, traceLine, traceRoot, traceTree, WAITING_MAX } from "./trace.ts";

function write(revision: number, resource: string, name: string, causedBy?: number): CauseItem {
  const cause = { controller: "c", key: "k", reason: "Added", revision: String(causedBy) };
  return {
    id: revision,
    time: "2026-01-01T00:00:01.250000Z",
    resourceVersion: String(revision),
    verb: "create",
    ...{ resource, namespace: "default", name, user: "jane", userAgent: "kubectl" },
    ...(causedBy === undefined ? {} : { cause }),
  };
}

const DEPLOYMENT = write(1, "deployments.apps", "web");
const SET = write(2, "replicasets.apps", "web-1", 1);
const POD = write(3, "pods", "web-1-x", 2);
const BINDING = write(4, "pods", "web-1-x", 3);
const STATUS = write(5, "deployments.apps", "web", 2);
const OTHER = write(6, "configmaps", "other");
const ALL = [DEPLOYMENT, SET, POD, BINDING, STATUS, OTHER];

test("a trace starts at the last write of a user to the object", () => {
  const again = write(7, "deployments.apps", "web");
  const subject = { resource: "deployments.apps", namespace: "default", name: "web" };
  equal(traceRoot([...ALL, again], subject), again);
  equal(traceRoot(ALL, { ...subject, name: "nothing" }), undefined);
  const scaled = { ...write(8, "deployments.apps", "web"), subresource: "scale" };
  equal(traceRoot([...ALL, again, scaled], subject), scaled);
  equal(traceRoot([...ALL, again, { ...scaled, subresource: "status" }], subject), again);
});

test("a trace is the tree of all writes whose cause leads back to its start", () => {
  deepEqual(
    traceTree(ALL, DEPLOYMENT).map(({ item, depth }) => [item.resourceVersion, depth]),
    [
      ["1", 0],
      ["2", 1],
      ["3", 2],
      ["4", 3],
      ["5", 2],
    ],
  );
});

test("a followed trace adds writes in the order of recording, also one that was recorded before its cause", () => {
  const trace = new Trace(DEPLOYMENT);
  const added = [SET, BINDING, POD, OTHER, POD].map((item) =>
    trace.add(item).map(({ item: { resourceVersion }, depth }) => `${resourceVersion}@${depth}`),
  );
  deepEqual(added, [["2@1"], [], ["3@2", "4@3"], [], []]);
});

test("a followed trace of an object starts another tree at each write of a user to it", () => {
  const trace = new Trace(DEPLOYMENT, { resource: "deployments.apps", namespace: "default", name: "web" });
  const scaled = { ...write(8, "deployments.apps", "web"), subresource: "scale" };
  const added = [SET, OTHER, scaled, write(9, "replicasets.apps", "web-1", 8)].map((item) =>
    trace.add(item).map(({ item: { resourceVersion }, depth }) => `${resourceVersion}@${depth}`),
  );
  deepEqual(added, [["2@1"], [], ["8@0"], ["9@1"]]);
});

test("a line of a trace has time, object, component, reason and revision", () => {
  equal(traceLine({ item: SET, depth: 1 }), "00:00:01.250   create replicasets.apps default/web-1 by c (Added), revision 2");
  equal(
    traceLine({ item: { ...DEPLOYMENT, deleted: true }, depth: 0 }),
    "00:00:01.250 removed deployments.apps default/web by jane, revision 1",
  );
});

test("a trace may be a chain as long as the record", () => {
  const chain = Array.from({ length: 20_000 }, (_, index) => write(index + 1, "pods", "web", index === 0 ? undefined : index));
  const [root = DEPLOYMENT] = chain;
  equal(traceTree(chain, root).at(-1)?.depth, 19_999);
});

test("a followed trace keeps a limited number of writes that may belong to it", () => {
  const trace = new Trace(DEPLOYMENT);
  trace.add(write(10_001, "pods", "old", 10_000));
  for (let index = 0; index < WAITING_MAX; index++) trace.add(write(30_001 + index, "pods", "other", 20_001 + index));

  deepEqual(
    [write(10_000, "pods", "a", 1), write(20_001, "pods", "b", 1)].map((item) => trace.add(item).length),
    [1, 2],
  );
});

test("a line of a trace is escaped for the terminal", () => {
  const line = traceLine({ item: { ...DEPLOYMENT, user: "eve\u001b[2J" }, depth: 0 });
  equal(line, "00:00:01.250 create deployments.apps default/web by eve\\u001b[2J, revision 1");
});
