import assert from "node:assert/strict";
import test from "node:test";
import { notFound, StatusError } from "../../api/machinery/status-error.ts";
import type { Client } from "../../client/client.ts";
import type { DiscoveredKind } from "../../client/discovery.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { KindTable } from "./kind-table.ts";

const OWNER = { apiVersion: "example.com/v1", kind: "Widget", name: "a", uid: "1" };
const WIDGETS = {
  resources: [
    { name: "widgets/status", kind: "Widget", namespaced: true },
    { name: "widgets", kind: "Widget", namespaced: true },
  ],
};

function aKind(plural: string, verbs = ["list", "watch", "delete"]): DiscoveredKind {
  const storage = { group: "example.com", version: "v1" };
  return { kind: "Widget", plural, singular: "", shortNames: [], categories: [], scope: "Namespaced", storage, verbs };
}

/** Scripted responses. */
function answering(...answers: readonly (object | Error)[]): { readonly write: Client; readonly asked: string[] } {
  const asked: string[] = [];
  const write = {
    document(path: string) {
      const answer = answers[asked.push(path) - 1];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  return { write: write as Client, asked };
}

test("rediscovered kinds are the same values, since indexes belong to them", () => {
  let discovered = [aKind("widgets"), aKind("unwatched", ["list", "delete"])];
  const table = new KindTable({ kinds: () => discovered, clock: virtualClock() });
  const [first] = table.followed;

  discovered = [aKind("widgets")];

  assert.equal(table.followed[0], first);
  assert.equal(table.named("widgets.example.com"), first);
  assert.equal(table.followedAs({ group: "example.com", kind: "Widget" }), first);
  assert.equal(table.named("unwatched.example.com"), undefined);
});

test("a version is discovered once per interval, however many owners are of it", async () => {
  const clock = virtualClock();
  const table = new KindTable({ kinds: () => [], clock });
  const server = answering({ resources: [] }, WIDGETS);

  await assert.rejects(table.lookup(OWNER, server.write), {
    message: 'Cannot look for an owner of kind "Widget": example.com/v1 has no such kind',
  });
  await assert.rejects(table.lookup(OWNER, server.write));
  assert.deepEqual(server.asked, ["/apis/example.com/v1"]);

  await clock.advance(5_000);
  const { plural, scope } = await table.lookup(OWNER, server.write);
  assert.deepEqual([plural, scope, server.asked.length], ["widgets", "Namespaced", 2]);
});

test("a server that does not respond is retried, one without the version is not", async () => {
  const down = new StatusError("ServiceUnavailable", "down");
  const table = new KindTable({ kinds: () => [], clock: virtualClock() });
  const server = answering(down, notFound({ group: "", plural: "" }, ""));

  await assert.rejects(table.lookup(OWNER, server.write), down);
  await assert.rejects(table.lookup(OWNER, server.write), /has no such kind/);
  await assert.rejects(table.lookup(OWNER, server.write), /has no such kind/);
  assert.equal(server.asked.length, 2);
});
