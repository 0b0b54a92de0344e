import assert from "node:assert/strict";
import { test } from "node:test";
import { driven } from "../testing/driven.ts";
import { given } from "../testing/given.ts";
import { InterruptibleTransport } from "../testing/interruptible-transport.ts";
import { selectingPolicy } from "./selecting-policy.ts";
import { aNamespace, aPod, aPolicy } from "./testing/objects.ts";

const DENY = aPolicy("x/deny", { podSelector: { matchLabels: { app: "web" } } });

test("selectingPolicy names a policy that selects the Pod, and rejects while the API server is away", async () => {
  await using cluster = await given(aNamespace("x"), aNamespace("y"), DENY);
  const { clock } = cluster;
  const transport = new InterruptibleTransport(cluster.server.transport());
  const ask = (...pod: Parameters<typeof aPod>) => driven(clock, selectingPolicy(aPod(...pod), { transport, clock }));
  const labels = { app: "web" };

  assert.equal(await ask("x/web", [], { labels }), "NetworkPolicy x/deny selects the Pod");
  assert.equal(await ask("x/other", [], { labels: { app: "other" } }), undefined);
  assert.equal(await ask("y/web", [], { labels }), undefined);
  assert.equal(await ask("x/web", [], { labels, hostNetwork: true }), undefined);
  transport.goAway();
  await assert.rejects(ask("x/web", [], { labels }), {
    message: "Cannot determine whether a NetworkPolicy selects the Pod: connect ECONNREFUSED",
  });
});
