/**
 * Finds plugins that register by a socket in the kubelet's `plugins_registry` (contract: contracts/plugin-handler.ts). The directory is the
 * desired state: it is read at the start, on every change, and every second, so that no event has to be relied on. A plugin whose socket
 * remains after it died stays registered, as upstream: calls to it fail until it is back. A socket that a plugin names below /var/lib/kubelet
 * is below the kubelet's root directory.
 * Not here: what a plugin of a type is used for (its handler).
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { decode, encode } from "../../base/protobuf/messages.ts";
import { perKeyExponential } from "../../base/rate-limiter.ts";
import { WorkQueue } from "../../base/work-queue.ts";
import { joinPath } from "../../host/files/files.ts";
import { makeDirectories } from "../../host/files/shared-directory.ts";
import { socketsUnder, watchDirectory } from "../../host/files/sockets.ts";
import { openGrpcChannel, type GrpcChannel } from "../../host/grpc/channel.ts";
import type { PluginHandler, RegisteredPlugin } from "../contracts/plugin-handler.ts";
import { isBelowDefaultRoot, toOwnRoot } from "../shared/default-root.ts";
import { getInfo, notifyRegistrationStatus } from "./messages.ts";

/** Upstream's interval of comparing the directory with the registered plugins. */
const SCAN_EVERY_MS = 1_000;

/** Upstream's back-off of a registration that failed. */
const RETRY_DELAY = { minMs: 500, maxMs: 122_000 };

/** Concurrent registrations. A plugin that does not answer occupies one until its timeout. */
const WORKERS = 8;

/** Upstream's time to connect and its time to notify. */
const INFO_TIMEOUT_MS = 10_000;
const NOTIFY_TIMEOUT_MS = 5_000;

/** Upstream's mode of the directory. */
const DIRECTORY_MODE = 0o755;

export interface PluginRegistrationOptions {
  /** The kubelet's, without symbolic links; `plugins_registry` in it is created if missing. */
  readonly rootDirectory: string;
  readonly handlers: readonly PluginHandler[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Disposing stops the search and keeps registrations: the plugins live on. */
export async function startPluginRegistration(options: PluginRegistrationOptions): Promise<AsyncDisposable> {
  const directory = joinPath(options.rootDirectory, "plugins_registry");
  await makeDirectories(directory, DIRECTORY_MODE);
  return new PluginRegistration({ ...options, directory });
}

interface Registration {
  /** Of the socket. */
  readonly identity: string;
  readonly handler: PluginHandler;
  readonly plugin: RegisteredPlugin;
}

class PluginRegistration implements AsyncDisposable {
  readonly #options: PluginRegistrationOptions & { readonly directory: string };
  readonly #queue: WorkQueue<string>;
  readonly #stop = new AbortController();
  readonly #running: readonly Promise<void>[];
  readonly #watch: Disposable;
  /** Identities of the sockets in the directory, by path. */
  #sockets: ReadonlyMap<string, string> = new Map();
  readonly #registrations = new Map<string, Registration>();
  #wake = (): void => {};

  constructor(options: PluginRegistrationOptions & { readonly directory: string }) {
    this.#options = options;
    this.#queue = new WorkQueue<string>({ clock: options.clock, rateLimiter: perKeyExponential(RETRY_DELAY) });
    this.#watch = watchDirectory(options.directory, () => this.#wake());
    this.#running = [this.#scanRepeatedly(), ...Array.from({ length: WORKERS }, () => this.#work())];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]();
    this.#stop.abort();
    this.#queue.shutDown();
    await Promise.all(this.#running);
  }

  async #scanRepeatedly(): Promise<void> {
    const { clock, directory } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const changed = new Promise<void>((resolve) => (this.#wake = resolve));
      this.#compare(await clock.external(socketsUnder(directory)));
      const timer = new AbortController();
      await Promise.race([changed, clock.sleep(SCAN_EVERY_MS, AbortSignal.any([signal, timer.signal])).catch(() => undefined)]);
      timer.abort();
    }
  }

  #compare(found: ReadonlyMap<string, string>): void {
    const before = this.#sockets;
    this.#sockets = found;
    for (const path of new Set([...before.keys(), ...found.keys()])) {
      if (before.get(path) === found.get(path)) continue;
      this.#queue.forget(path);
      this.#queue.add(path);
    }
  }

  async #work(): Promise<void> {
    for (let path = await this.#queue.take(); path !== undefined; path = await this.#queue.take()) {
      try {
        await this.#reconcile(path);
        this.#queue.forget(path);
      } catch (error) {
        if (!this.#stop.signal.aborted) {
          this.#options.log.warn("Registering a plugin failed; retrying", { socket: path, error });
          this.#queue.addRateLimited(path);
        }
      } finally {
        this.#queue.done(path);
      }
    }
  }

  async #reconcile(path: string): Promise<void> {
    const identity = this.#sockets.get(path);
    const registered = this.#registrations.get(path);
    if (registered !== undefined && registered.identity !== identity) {
      await registered.handler.deregister(registered.plugin);
      this.#registrations.delete(path);
      this.#options.log.info("Plugin deregistered", { type: registered.handler.type, plugin: registered.plugin.name, socket: path });
    }
    if (identity === undefined || this.#registrations.has(path)) return;
    const channel = await openGrpcChannel({ host: path, port: 0, clock: this.#options.clock });
    try {
      this.#registrations.set(path, { identity, ...(await this.#register(path, channel)) });
    } finally {
      channel.close();
    }
  }

  async #register(path: string, channel: GrpcChannel): Promise<Omit<Registration, "identity">> {
    const { signal } = this.#stop;
    const bytes = await channel.call(getInfo.path, encode(getInfo.request, {}), { timeoutMs: INFO_TIMEOUT_MS, signal });
    const { type, name, endpoint, supportedVersions } = decode(getInfo.response, bytes);
    const socket = socketPathOf(endpoint, path);
    const { rootDirectory } = this.#options;
    const usesDefaultRoot = isBelowDefaultRoot(socket);
    const plugin = { name, endpoint: toOwnRoot(socket, rootDirectory), usesDefaultRoot, supportedVersions };
    try {
      const handler = this.#handlerOf(type, path);
      await registerWith(handler, plugin, signal);
      await this.#notifyRegistered(channel, handler, plugin);
      this.#options.log.info("Plugin registered", { type, plugin: name, socket: path });
      return { handler, plugin };
    } catch (error) {
      await notify(channel, error instanceof Error ? error.message : String(error)).catch(() => undefined);
      throw error;
    }
  }

  #handlerOf(type: string, path: string): PluginHandler {
    const handler = this.#options.handlers.find((candidate) => candidate.type === type);
    if (handler === undefined) {
      throw new Error(`RegisterPlugin error -- no handler registered for plugin type: ${type} at socket ${path}`);
    }
    return handler;
  }

  /** A plugin that does not learn of its registration stops or registers again. */
  async #notifyRegistered(channel: GrpcChannel, handler: PluginHandler, plugin: RegisteredPlugin): Promise<void> {
    try {
      await notify(channel, "");
    } catch (error) {
      await handler.deregister(plugin);
      throw error;
    }
  }
}

async function registerWith(handler: PluginHandler, plugin: RegisteredPlugin, signal: AbortSignal): Promise<void> {
  const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
  try {
    handler.validate(plugin);
  } catch (error) {
    throw new Error(`RegisterPlugin error -- plugin validation failed with err: ${reason(error)}`, { cause: error });
  }
  try {
    await handler.register(plugin, signal);
  } catch (error) {
    throw new Error(`RegisterPlugin error -- plugin registration failed with err: ${reason(error)}`, { cause: error });
  }
}

async function notify(channel: GrpcChannel, error: string): Promise<void> {
  const status = encode(notifyRegistrationStatus.request, { pluginRegistered: error === "", error });
  await channel.call(notifyRegistrationStatus.path, status, { timeoutMs: NOTIFY_TIMEOUT_MS });
}

/** An empty endpoint is the registration socket itself. */
function socketPathOf(endpoint: string, registrationSocket: string): string {
  return endpoint === "" ? registrationSocket : endpoint.replace(/^unix:(?:\/\/)?(?=\/)/, "");
}
