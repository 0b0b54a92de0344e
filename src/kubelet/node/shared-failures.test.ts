import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { StatusError } from "../../api/machinery/status-error.ts";
import { createLogger } from "../../base/logger.ts";
import { SharedFailures, loggedFailures, type NodeFailures } from "./shared-failures.ts";

const LEASE = "Cannot renew the lease of the node";
const refused = (words: string) => new StatusError("ServiceUnavailable", words);
const forbidden = (node: string) => new StatusError("Forbidden", `User "system:node:${node}" cannot`);

/** The logged lines without timestamps. */
function linesOf<Kind extends NodeFailures>(make: (log: ReturnType<typeof createLogger>) => Kind, happens: (failures: Kind) => void) {
  const lines: string[] = [];
  const sink = ({ level, sentence, fields }: { level: string; sentence: string; fields: Record<string, unknown> }) =>
    void lines.push(`${level} ${sentence}: ${String(fields["node"] ?? fields["reason"])}`);
  happens(make(createLogger({ sink, clock: { now: () => 0 }, level: "warn" })));
  return lines;
}

const shared = (happens: (failures: SharedFailures) => void) => linesOf((log) => new SharedFailures(log), happens);

test("a failure of all nodes is logged once, and once more when the last of them has recovered", () => {
  const lines = shared((failures) => {
    for (const attempt of [1, 2, 3]) for (const node of ["a", "b", "c"]) failures.failed(LEASE, node, refused(`attempt ${attempt}`));
    for (const node of ["c", "a", "other", "b"]) failures.succeeded(LEASE, node);
    failures.failed(LEASE, "b", refused("again"));
  });

  deepEqual(lines, [`warn ${LEASE}: a`, "warn All nodes recovered: ServiceUnavailable", `warn ${LEASE}: b`]);
});

test("another reason or another operation is another failure", () => {
  const lines = shared((failures) => {
    failures.failed(LEASE, "a", refused("away"));
    for (const node of ["a", "b"]) failures.failed(LEASE, node, forbidden(node));
    failures.failed("Cannot register the node", "c", refused("away"));
    failures.succeeded(LEASE, "a");
    failures.failed(LEASE, "a", refused("away"));
  });

  deepEqual(lines, [
    `warn ${LEASE}: a`,
    `warn ${LEASE}: a`,
    "warn Cannot register the node: c",
    "warn All nodes recovered: ServiceUnavailable",
    `warn ${LEASE}: a`,
  ]);
});

test("a node that stops is not a recovery, and is not waited for", () => {
  const lines = shared((failures) => {
    for (const node of ["a", "b"]) failures.failed(LEASE, node, refused("away"));
    failures.forget("a");
    failures.succeeded(LEASE, "b");
    failures.failed(LEASE, "a", refused("away"));
    failures.forget("a");
    failures.failed(LEASE, "b", refused("away"));
  });

  deepEqual(lines, [`warn ${LEASE}: a`, "warn All nodes recovered: ServiceUnavailable", `warn ${LEASE}: a`, `warn ${LEASE}: b`]);
});

test("a single node logs each failure", () => {
  const lines = linesOf(loggedFailures, (failures) => {
    for (const attempt of [1, 2]) failures.failed(LEASE, "a", refused(`attempt ${attempt}`));
    failures.succeeded(LEASE, "a");
  });

  deepEqual(lines, [`warn ${LEASE}: a`, `warn ${LEASE}: a`]);
});

test("only the last hundred distinct failures are kept", () => {
  const lines = shared((failures) => {
    for (let attempt = 0; attempt <= 100; attempt++) failures.failed(LEASE, "a", new Error(`after ${attempt} ms`));
    failures.succeeded(LEASE, "a");
  });

  deepEqual(
    lines.filter((line) => line.startsWith("warn All")),
    Array.from({ length: 100 }, (_, index) => `warn All nodes recovered: after ${index + 1} ms`),
  );
});
