import { equal } from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Disposables } from "../../base/disposables.ts";
import { createLogger } from "../../base/logger.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";
import { realClock } from "../../host/real-clock.ts";
import { becomes } from "../../testing/becomes.ts";
import type { PluginHandler, RegisteredPlugin } from "../contracts/plugin-handler.ts";
import { startPluginRegistration } from "./plugin-registration.ts";
import { startRegistrationSocket } from "./testing/registration-socket.ts";

const clock = realClock;
const log = createLogger({ clock, level: "error", sink: () => {} });

class RecordedHandler implements PluginHandler {
  readonly type = "CSIPlugin";
  readonly calls: string[] = [];
  failures = 0;

  validate({ name, supportedVersions }: RegisteredPlugin): void {
    if (supportedVersions.length === 0) throw new Error(`${name} has no versions`);
  }

  async register({ name, endpoint, usesDefaultRoot }: RegisteredPlugin): Promise<void> {
    if (this.failures-- > 0) throw new Error("not yet");
    this.calls.push(`register ${name} at ${endpoint}${usesDefaultRoot ? " with the default root" : ""}`);
  }

  async deregister({ name }: RegisteredPlugin): Promise<void> {
    this.calls.push(`deregister ${name}`);
  }
}

async function scene() {
  await using starting = new Disposables();
  const root = starting.use(await makeTemporaryDirectory("k8ts-registry-"));
  const rootDirectory = root.path;
  const directory = join(rootDirectory, "plugins_registry");
  const handler = new RecordedHandler();
  const start = () => startPluginRegistration({ rootDirectory, handlers: [handler], clock, log });
  const plugin = (name: string, fields: { type?: string; endpoint?: string; supportedVersions?: string[] } = {}) =>
    startRegistrationSocket({
      socket: join(directory, `${name}-reg.sock`),
      info: { type: "CSIPlugin", name, endpoint: `/sockets/${name}`, supportedVersions: ["1.0.0"], ...fields },
      clock,
    });
  const owned = starting.move();
  return { rootDirectory, directory, handler, start, plugin, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

test("a plugin is registered when its socket appears, deregistered when it disappears, and registered again by another kubelet", async () => {
  await using world = await scene();
  const { handler, start, plugin } = world;
  const first = await start();
  {
    await using registered = await plugin("a");
    await becomes(async () => registered.reports.join(), "registered");
    await first[Symbol.asyncDispose]();
    equal(handler.calls.join(), "register a at /sockets/a");
    await using _second = await start();
    await becomes(async () => registered.reports.join(), "registered,registered");
    await registered[Symbol.asyncDispose]();
    await becomes(async () => handler.calls.slice(2).join(), "deregister a");
  }
});

test("a replaced socket is deregistered first and registered again", async () => {
  await using world = await scene();
  const { handler, start, plugin } = world;
  await using _registration = await start();
  const before = await plugin("a");
  await becomes(async () => handler.calls.length, 1);
  await before[Symbol.asyncDispose]();

  await using _after = await plugin("a");

  const calls = ["register a at /sockets/a", "deregister a", "register a at /sockets/a"];
  await becomes(async () => handler.calls.join(), calls.join());
});

test("a failed registration is reported to the plugin and retried; others are not delayed", async () => {
  await using world = await scene();
  const { directory, handler, start, plugin } = world;
  handler.failures = 1;
  await mkdir(join(directory, "below"), { recursive: true });
  await using failing = await plugin("below/a");
  await using unknown = await plugin("b", { type: "DevicePlugin" });
  await using unversioned = await plugin("c", { supportedVersions: [] });

  await using _registration = await start();

  await becomes(async () => failing.reports.join(), "RegisterPlugin error -- plugin registration failed with err: not yet,registered");
  const socket = join(directory, "b-reg.sock");
  await becomes(
    async () => [unknown.reports[0], unversioned.reports[0]].join(),
    `RegisterPlugin error -- no handler registered for plugin type: DevicePlugin at socket ${socket},` +
      "RegisterPlugin error -- plugin validation failed with err: c has no versions",
  );
});

test("a plugin that names its socket below /var/lib/kubelet is reached below the kubelet's root directory", async () => {
  await using world = await scene();
  const { rootDirectory, handler, start, plugin } = world;
  await using _registration = await start();

  await using _plugin = await plugin("a", { endpoint: "/var/lib/kubelet/plugins/a/csi.sock" });

  await becomes(async () => handler.calls.join(), `register a at ${rootDirectory}/plugins/a/csi.sock with the default root`);
});
