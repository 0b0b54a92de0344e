import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { conflict } from "../../api/machinery/status-error.ts";
import type { CauseRecord, CommittedWrite } from "../framework/recording/causes.ts";
import { RequestTrail } from "../framework/recording/request-trail.ts";
import type { RequestContext } from "../framework/request.ts";
import { readCauseLine } from "./cause-line.ts";
import { CAUSES_MAX, RecordedCauses, REFUSALS_MAX } from "./recorded-causes.ts";

const CONTEXT: RequestContext = { user: { name: "jane", groups: [] }, userAgent: "test", warn() {} };
const STORAGE = { name: { group: "", plural: "configmaps" }, resource: {} } as CommittedWrite["storage"];

function write(revision: number): CommittedWrite {
  const request = { verb: "update", subresource: "", context: CONTEXT };
  return { storage: STORAGE, name: { namespace: "default", name: "a" }, revision, request };
}

const REFUSED = {
  request: { verb: "update", group: "", plural: "configmaps", subresource: "", namespace: "default", name: "a", context: CONTEXT },
  error: conflict({ group: "", plural: "configmaps" }, "a", "changed"),
  stage: "write",
} as const;

test("recorded causes keep the latest writes in the order of their ids", () => {
  const causes = new RecordedCauses({ now: () => 0, monotonic: () => 0 });
  for (let revision = 1; revision <= CAUSES_MAX + 10; revision++) causes.record(write(revision));

  const kept = causes.list();

  deepEqual([kept.length, kept[0]?.revision, kept.at(-1)?.revision, causes.newestId], [CAUSES_MAX, 11, CAUSES_MAX + 10, CAUSES_MAX + 10]);
});

test("recorded causes keep writes while a client is refused in a loop", () => {
  const causes = new RecordedCauses({ now: () => 0, monotonic: () => 0 });
  causes.record(write(7));
  for (let count = 0; count < REFUSALS_MAX * 2; count++) causes.refuse(REFUSED);

  const kept = causes.list();

  deepEqual([kept.length, kept[0]?.revision, kept.at(-1)?.refusal?.reason], [REFUSALS_MAX + 1, 7, "Conflict"]);
});

test("recorded causes map a time to the newest revision at or before it", () => {
  let nowMs = 0;
  const causes = new RecordedCauses({ now: () => nowMs, monotonic: () => nowMs });
  for (const [timeMs, revision] of [
    [100, 5],
    [200, 7],
    [200, 6],
  ] as const) {
    nowMs = timeMs;
    causes.record(write(revision));
  }

  deepEqual(
    [50, 100, 199, 200, 900].map((timeMs) => causes.revisionAt(timeMs)),
    [undefined, 5, 5, 7, 7],
  );
});

test("recorded causes continue the sequence of earlier processes, and append to their log", () => {
  const appended: CauseRecord[] = [];
  const append = (line: string) => void appended.push(...readCauseLine(line));
  const first = new RecordedCauses({ now: () => 1, monotonic: () => 1 }, { log: { appendCommit: append, appendRefusal: append } });
  first.record(write(3));
  first.refuse(REFUSED);

  const second = new RecordedCauses({ now: () => 2, monotonic: () => 2 }, { earlier: appended });
  second.record(write(4));

  deepEqual(
    second.list().map(({ id, revision }) => [id, revision]),
    [
      [1, 3],
      [2, 0],
      [3, 4],
    ],
  );
});

test("recorded causes notify subscribers until they unsubscribe", () => {
  const causes = new RecordedCauses({ now: () => 0, monotonic: () => 0 });
  const seen: number[] = [];
  const stop = causes.subscribe(({ revision }) => void seen.push(revision));
  causes.record(write(1));
  stop();
  causes.record(write(2));

  deepEqual(seen, [1]);
  equal(causes.newestId, 2);
});

test("recorded causes have the stages of their request with whole microseconds, and omit those that it did not reach", () => {
  const causes = new RecordedCauses({ now: () => 0, monotonic: () => 1.0049 });
  const trail = new RequestTrail(() => "id", { atMs: 1, authenticator: "client certificate", impersonator: "root" });
  trail.authenticated(1.001);
  trail.authorized({ authorizer: "RBAC" }, 1.003);
  const { storage, name, revision, request } = write(7);
  causes.record({ storage, name, revision, request: { ...request, context: { ...CONTEXT, trail } }, deleted: true });

  const [record] = causes.list();

  deepEqual(record?.stages, {
    authentication: { by: "client certificate", impersonator: "root", microseconds: 1 },
    authorization: { by: "RBAC", microseconds: 2 },
    store: { microseconds: 2 },
  });
  deepEqual([record.requestId, record.deleted, "cause" in record, "admission" in record], ["id", true, false, false]);
});

test("the logged line of a commit has everything that its record has", () => {
  const lines: string[] = [];
  const log = { appendCommit: (line: string) => void lines.push(line), appendRefusal() {} };
  const causes = new RecordedCauses({ now: () => 7, monotonic: () => 9 }, { log });
  const trail = new RequestTrail(() => 'id "1"', { atMs: 1, authenticator: "x509", impersonator: "jane" });
  trail.authenticated(2);
  trail.authorized({ authorizer: "RBAC", reason: 'by "admin"' }, 3);
  trail.admitted(4, 5);
  trail.annotate("example.com/key", "a\nb");
  trail.steps = [{ plugin: "Priority", changed: ["spec.priority"] }];
  const { request, ...commit } = write(3);
  const context: RequestContext = { ...request.context, trail, cause: { controller: "c", key: "default/web" } };

  causes.record({ ...commit, request: { ...request, context }, deleted: true });

  deepEqual(lines.flatMap(readCauseLine), causes.list());
  deepEqual(Object.keys(causes.list()[0]?.stages ?? {}), ["authentication", "authorization", "admission", "store"]);
});
