import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { memoryStore } from "../../testing/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { ApiServerOptions } from "../api-server.ts";
import { Objects } from "../objects.ts";
import { startGuardedServer, type StartedServer } from "../testing/server.ts";
import { breakableStore } from "../testing/wrapped-store.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import { controllerIdentity } from "../../api/identities.ts";
import { DefaultServiceAccounts } from "./default-service-accounts.ts";

const NAMESPACES = "/api/v1/namespaces";

interface Started extends AsyncDisposable {
  readonly server: StartedServer;
  readonly accounts: DefaultServiceAccounts;
  /** How "default" is found in the namespace, once everything has come to rest. */
  code(namespace: string): Promise<number>;
}

async function started(options: Partial<ApiServerOptions> & { readonly clock?: VirtualClock } = {}): Promise<Started> {
  const server = await startGuardedServer(options);
  const transport = server.server.transport({ user: controllerIdentity("service-account-controller"), userAgent: "test" });
  const objects = new Objects(server.server.endpoints);
  const accounts = new DefaultServiceAccounts({ objects, transport, clock: server.clock, log: silentLogger });
  await accounts.start();
  return {
    server,
    accounts,
    async code(namespace) {
      await server.clock.settle();
      return (await server.call("GET", `${NAMESPACES}/${namespace}/serviceaccounts/default`)).code;
    },
    async [Symbol.asyncDispose]() {
      accounts.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

test("the namespaces that every cluster has have their account right after the start, and a new one right after it was made", async () => {
  await using run = await started();

  for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"]) assert.equal(await run.code(name), 200, name);
  await run.server.call("POST", NAMESPACES, { metadata: { name: "n" } });
  assert.equal(await run.code("n"), 200);
});

test("an account that is deleted comes back, and another does not", async () => {
  await using run = await started();
  await run.code("default");
  const accounts = `${NAMESPACES}/default/serviceaccounts`;
  const before = (await run.server.call("GET", `${accounts}/default`)).body.metadata.uid;
  await run.server.call("POST", accounts, { metadata: { name: "other" } });

  for (const name of ["default", "other"]) assert.equal((await run.server.call("DELETE", `${accounts}/${name}`)).code, 200);

  assert.equal(await run.code("default"), 200);
  assert.notEqual((await run.server.call("GET", `${accounts}/default`)).body.metadata.uid, before);
  assert.equal((await run.server.call("GET", `${accounts}/other`)).code, 404);
});

test("in a namespace that is going nothing is made again", async () => {
  await using run = await started();
  await run.server.call("POST", NAMESPACES, { metadata: { name: "n" } });
  assert.equal(await run.code("n"), 200);

  await run.server.call("DELETE", `${NAMESPACES}/n`);
  await run.server.call("DELETE", `${NAMESPACES}/n/serviceaccounts/default`);

  assert.equal(await run.code("n"), 404);
});

test("what could not be written is written when the store takes it again, and not after the end", async () => {
  const clock = virtualClock();
  const state = { isBroken: false };
  const store = breakableStore(memoryStore(clock), state);
  await using run = await started({ store, clock });
  const remove = async () => {
    assert.equal(await run.code("default"), 200);
    assert.equal((await run.server.call("DELETE", `${NAMESPACES}/default/serviceaccounts/default`)).code, 200);
  };

  assert.equal(await run.code("default"), 200);
  state.isBroken = true;
  await remove();
  assert.equal(await run.code("default"), 404);
  state.isBroken = false;
  await clock.advance(10_000);
  await remove();
  assert.equal(await run.code("default"), 200);
  run.accounts.close();
  await remove();
  assert.equal(await run.code("default"), 404);
});
