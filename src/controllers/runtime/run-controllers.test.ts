import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { silentRecorder } from "../../testing/given.ts";
import { driven } from "../../testing/driven.ts";
import { onChange, watchEveryKind } from "./controller.ts";
import { Gate, map, mapController, runWorld } from "./testing/run-world.ts";

/** Creates a map with its own name when it sees the map "a". */
function copier(name: string) {
  return mapController(
    async (key, { read, write }) => {
      if (key.name === "a" && read.get(configMaps, { ...key, name }) === undefined) await write.create(configMaps, map(name));
      return onChange;
    },
    { name, account: `account-of-${name}` },
  );
}

test("each controller acts under its own identity, and all share one informer per kind", async () => {
  await using world = await runWorld("a");
  const watched: string[] = [];
  world.before = (request) => void ("verb" in request || watched.push(request.plural));
  const running = await world.start(copier("one"), copier("two"));
  await world.cluster.settled();

  const userOf = async (name: string) => (await world.causesOf(name)).map(({ user }) => user);
  deepEqual(
    [await userOf("one"), await userOf("two")],
    [["system:serviceaccount:kube-system:account-of-one"], ["system:serviceaccount:kube-system:account-of-two"]],
  );
  deepEqual([running.names, watched], [["one", "two"], ["configmaps"]]);
});

test("a controller that fails to start stops all others and disposes of their resources", async () => {
  await using world = await runWorld("a");
  const lines: string[] = [];
  const broken = mapController(() => Promise.resolve(onChange), {
    name: "broken",
    start() {
      throw new Error("Cannot be started");
    },
  });
  const recorderFor = ({ name }: { readonly name: string }) => ({
    ...silentRecorder,
    [Symbol.asyncDispose]: async () => void lines.push(`recorder of ${name}`),
  });
  const starting = world.starting([copier("one"), broken], { recorderFor });
  await rejects(driven(world.cluster.clock, starting), /Cannot be started/);
  // The first was already running.
  await world.cluster.settled();
  const before = (await world.cluster.list(configMaps, "default")).length;

  for (const name of ["one", "a"]) await world.cluster.client.delete(configMaps, { namespace: "default", name }).catch(() => undefined);
  await world.cluster.client.create(configMaps, map("a"));
  await world.cluster.clock.advance(100_000);

  deepEqual(lines.toSorted(), ["recorder of broken", "recorder of one"]);
  equal((await world.cluster.list(configMaps, "default")).length, 1, `no controller acts any more (there were ${before})`);
});

test("an identity that cannot be obtained prevents the start", async () => {
  await using world = await runWorld("a");
  let recorders = 0;
  const clientFor = async () => Promise.reject(new Error("Who are you?"));
  const recorderFor = () => (recorders++, silentRecorder);

  await rejects(driven(world.cluster.clock, world.starting([copier("one"), copier("two")], { clientFor, recorderFor })), /Who are you/);
  equal(recorders, 0);
});

test("a start that waits for an unresponsive server can be aborted", async () => {
  for (const watches of [copier("one").watches, [watchEveryKind(() => [])]]) {
    await using world = await runWorld();
    const gate = new Gate();
    world.before = () => gate.opened;
    const giveUp = new AbortController();
    const starting = world.starting([mapController(() => Promise.resolve(onChange), { watches })], { signal: giveUp.signal });
    const failed = rejects(starting, /Enough/);
    await world.cluster.settled();

    giveUp.abort(new Error("Enough"));
    await failed;
    gate.open();
  }
});

test("stopping flushes recorded events, and stopping twice does nothing", async () => {
  await using world = await runWorld("a");
  const lines: string[] = [];
  const gate = new Gate();
  const controller = mapController(async () => (await gate.opened, lines.push("pass ended"), onChange));
  const disposed = { ...silentRecorder, [Symbol.asyncDispose]: async () => void lines.push("recorder disposed of") };
  const running = await driven(world.cluster.clock, world.starting([controller], { recorderFor: () => disposed }));
  await world.cluster.settled();

  const stopping = running.stop();
  gate.open();
  await stopping;
  await running.stop();

  deepEqual(lines, ["pass ended", "recorder disposed of"]);
});
