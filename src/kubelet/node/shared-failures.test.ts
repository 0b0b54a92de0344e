import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { StatusError } from "../../api/machinery/status-error.ts";
import { createLogger } from "../../base/logger.ts";
import { SharedTroubles, toldTroubles, type Troubles } from "./shared-failures.ts";

const LEASE = "Cannot renew the lease of the node";
const refused = (words: string) => new StatusError("ServiceUnavailable", words);
const forbidden = (node: string) => new StatusError("Forbidden", `User "system:node:${node}" cannot`);

/** The lines that come of it, without their times. */
function linesOf<Kind extends Troubles>(make: (log: ReturnType<typeof createLogger>) => Kind, happens: (troubles: Kind) => void) {
  const lines: string[] = [];
  const sink = ({ level, sentence, fields }: { level: string; sentence: string; fields: Record<string, unknown> }) =>
    void lines.push(`${level} ${sentence}: ${String(fields["node"] ?? fields["reason"])}`);
  happens(make(createLogger({ sink, clock: { now: () => 0 }, level: "warn" })));
  return lines;
}

const shared = (happens: (troubles: SharedTroubles) => void) => linesOf((log) => new SharedTroubles(log), happens);

test("a trouble of all is told once, and once more when the last of them is out of it", () => {
  const lines = shared((troubles) => {
    for (const attempt of [1, 2, 3]) for (const node of ["a", "b", "c"]) troubles.failed(LEASE, node, refused(`attempt ${attempt}`));
    for (const node of ["c", "a", "other", "b"]) troubles.succeeded(LEASE, node);
    troubles.failed(LEASE, "b", refused("again"));
  });

  deepEqual(lines, [`warn ${LEASE}: a`, "warn No node has this trouble any more: ServiceUnavailable", `warn ${LEASE}: b`]);
});

test("another reason, and another thing that cannot be done, is another trouble", () => {
  const lines = shared((troubles) => {
    troubles.failed(LEASE, "a", refused("away"));
    for (const node of ["a", "b"]) troubles.failed(LEASE, node, forbidden(node));
    troubles.failed("Cannot register the node", "c", refused("away"));
    troubles.succeeded(LEASE, "a");
    troubles.failed(LEASE, "a", refused("away"));
  });

  deepEqual(lines, [
    `warn ${LEASE}: a`,
    `warn ${LEASE}: a`,
    "warn Cannot register the node: c",
    "warn No node has this trouble any more: ServiceUnavailable",
    `warn ${LEASE}: a`,
  ]);
});

test("nothing is well again because a node has stopped, and nobody waits for it", () => {
  const lines = shared((troubles) => {
    for (const node of ["a", "b"]) troubles.failed(LEASE, node, refused("away"));
    troubles.forget("a");
    troubles.succeeded(LEASE, "b");
    troubles.failed(LEASE, "a", refused("away"));
    troubles.forget("a");
    troubles.failed(LEASE, "b", refused("away"));
  });

  deepEqual(lines, [
    `warn ${LEASE}: a`,
    "warn No node has this trouble any more: ServiceUnavailable",
    `warn ${LEASE}: a`,
    `warn ${LEASE}: b`,
  ]);
});

test("a node that is alone tells each failure", () => {
  const lines = linesOf(toldTroubles, (troubles) => {
    for (const attempt of [1, 2]) troubles.failed(LEASE, "a", refused(`attempt ${attempt}`));
    troubles.succeeded(LEASE, "a");
  });

  deepEqual(lines, [`warn ${LEASE}: a`, `warn ${LEASE}: a`]);
});

test("of troubles in ever other words only the last hundred are remembered", () => {
  const lines = shared((troubles) => {
    for (let attempt = 0; attempt <= 100; attempt++) troubles.failed(LEASE, "a", new Error(`after ${attempt} ms`));
    troubles.succeeded(LEASE, "a");
  });

  deepEqual(
    lines.filter((line) => line.startsWith("warn No node")),
    Array.from({ length: 100 }, (_, index) => `warn No node has this trouble any more: after ${index + 1} ms`),
  );
});
