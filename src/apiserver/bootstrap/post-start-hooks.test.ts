import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { FAIRNESS_HOOKS, PostStartHooks } from "./post-start-hooks.ts";
import { startServer } from "../testing/server.ts";

function names(hooks: PostStartHooks): readonly string[] {
  return hooks.checks().map(({ name }) => name);
}

test("a post-start hook is unfinished until it is reported, and hooks that the configuration disables have no check", () => {
  const all = new PostStartHooks();
  all.finished("rbac/bootstrap-roles");

  deepEqual(
    all.checks().filter(({ ok }) => ok),
    [{ name: "poststarthook/rbac/bootstrap-roles", ok: true, reason: "not finished" }],
  );
  const left = names(new PostStartHooks({ without: FAIRNESS_HOOKS }));
  deepEqual(
    names(all).filter((name) => !left.includes(name)),
    ["poststarthook/priority-and-fairness-config-consumer", "poststarthook/priority-and-fairness-filter"],
  );
});

test("a started server has finished every post-start hook", async () => {
  await using server = await startServer();
  const { text } = await server.call("GET", "/readyz?verbose");
  const expected = names(new PostStartHooks());
  const lines = text.split("\n").filter((line) => expected.some((name) => line.includes(name)));
  deepEqual(
    lines,
    expected.map((name) => `[+]${name} ok`),
  );
});

test("health checks include upstream's checks of custom resources, of the storage and of registered API services", async () => {
  await using server = await startServer();
  const { text } = await server.call("GET", "/livez?verbose");
  const wanted = [
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/storage-readiness",
    "autoregister-completion",
  ];
  deepEqual(
    wanted.filter((name) => !text.split("\n").includes(`[+]${name} ok`)),
    [],
  );
});
