/**
 * The Pods of this node, assembled from the runtime's lists. Listing is cheap, details are not, so the details of a container are fetched
 * once per state: they do not change within one. A Pod whose sandbox was recreated has several; the newest represents the Pod, and the
 * containers of all are shown, as upstream.
 */
import { entriesOf } from "../../../base/protobuf/shared-messages.ts";
import type { Clock } from "../../../base/clock.ts";
import type { RuntimeContainer, SandboxStatus } from "../../contracts/runtime.ts";
import { mapOf, millisecondsOf } from "./messages/common.ts";
import { containerStatus, listContainers, type ContainerStatusMessage, type ListedContainer } from "./messages/container.ts";
import { runtimeContainer } from "./container-status.ts";
import { isNotFound, type CriClient } from "./cri-client.ts";
import { OWNER, POD_UID } from "./labels.ts";
import { listPodSandbox, podSandboxStatus, SANDBOX_READY, type ListedSandbox } from "./messages/sandbox.ts";
import { messageFromFile, messageFromLog, mayReadLog } from "./termination-message.ts";

/** An OOM kill becomes known only some time after the exit: on a busy machine, much later. */
const KILLED_EXIT_CODE = 137;
const OUT_OF_MEMORY = "OOMKilled";
const REASON_SETTLED_MS = 60_000;
/**
 * containerd reports an exit while its log writer may still hold the last lines. So reading a termination message from the log waits for an
 * unnoticeable time, and is repeated by reads within a longer one.
 */
const LOG_WRITTEN_MS = 100;
const LOG_SETTLED_MS = 10_000;

export interface Listing {
  readonly sandboxes: readonly ListedSandbox[];
  readonly containers: readonly ListedContainer[];
}

export interface PodViewsOptions {
  readonly client: CriClient;
  readonly owner: string;
  readonly clock: Clock;
  /** True if IPv6 addresses are reported first. */
  readonly isIpv6First?: boolean | undefined;
}

interface Detail {
  readonly state: number;
  readonly container: RuntimeContainer;
}

/** Read when a container was first seen as exited. */
interface SeenEnd {
  /** By the monotonic clock. */
  readonly atMs: number;
  /** Read once: the file is removed with the Pod, and a later read finds none. */
  readonly messageFromFile: string | undefined;
}

export class PodViews {
  readonly #options: PodViewsOptions;
  readonly #ips = new Map<string, readonly string[]>();
  readonly #details = new Map<string, Detail>();
  /** Number of invalidations. */
  #forgets = 0;
  readonly #ends = new Map<string, SeenEnd>();

  constructor(options: PodViewsOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly SandboxStatus[]> {
    const listing = await this.listing();
    const uids = new Set(listing.sandboxes.map(uidOf));
    const found = await Promise.all([...uids].map((uid) => this.#statusOf(listing, uid)));
    return found.filter((status) => status !== undefined);
  }

  async status(podUid: string): Promise<SandboxStatus | undefined> {
    return this.#statusOf(await this.listing(podUid), podUid);
  }

  /** Newest first. */
  async sandboxes(podUid: string): Promise<readonly ListedSandbox[]> {
    const { items } = await this.#options.client.call(listPodSandbox, { filter: { labels: this.#selector(podUid) } });
    return items.toSorted(newestFirst);
  }

  /** Undefined if it does not exist or belongs to another owner. */
  async sandbox(id: string): Promise<ListedSandbox | undefined> {
    const { items } = await this.#options.client.call(listPodSandbox, { filter: { id, labels: this.#selector() } });
    return items.find((sandbox) => sandbox.id === id);
  }

  async containers(podUid: string): Promise<readonly ListedContainer[]> {
    return (await this.#options.client.call(listContainers, { filter: { labels: this.#selector(podUid) } })).containers;
  }

  /** Of one Pod, or of all of this owner's. */
  async listing(podUid?: string): Promise<Listing> {
    const labels = this.#selector(podUid);
    const { client } = this.#options;
    const [{ items: sandboxes }, { containers }] = await Promise.all([
      client.call(listPodSandbox, { filter: { labels } }),
      client.call(listContainers, { filter: { labels } }),
    ]);
    if (podUid === undefined) this.#forgetOthers({ sandboxes, containers });
    return { sandboxes: sandboxes.toSorted(newestFirst), containers };
  }

  /** Undefined if it does not exist or belongs to another owner. */
  async containerStatus(id: string): Promise<ContainerStatusMessage | undefined> {
    try {
      const { status } = await this.#options.client.call(containerStatus, { id });
      return status !== undefined && mapOf(status.labels).get(OWNER) === this.#options.owner ? status : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Invalidates the cached details of a container whose state is unchanged. */
  forget(containerId: string): void {
    this.#details.delete(containerId);
    this.#forgets += 1;
  }

  // ── assembling ────────────────────────────────────────────────────────────────────────────────────

  async #statusOf({ sandboxes, containers }: Listing, podUid: string): Promise<SandboxStatus | undefined> {
    const newest = sandboxes.find((sandbox) => uidOf(sandbox) === podUid);
    if (newest === undefined) return undefined;
    const isReady = newest.state === SANDBOX_READY;
    const own = containers.filter((container) => uidOf(container) === podUid);
    const [ips, detailed] = await Promise.all([isReady ? this.#ipsOf(newest.id) : [], Promise.all(own.map((one) => this.#detail(one)))]);
    return {
      id: newest.id,
      podUid,
      namespace: newest.metadata?.namespace ?? "",
      name: newest.metadata?.name ?? "",
      state: isReady ? "ready" : "not-ready",
      createdAtMs: millisecondsOf(newest.createdAt),
      ips,
      containers: detailed.filter((container) => container !== undefined).toSorted(newestAttemptFirst),
    };
  }

  async #ipsOf(sandboxId: string): Promise<readonly string[]> {
    const known = this.#ips.get(sandboxId);
    if (known !== undefined) return known;
    try {
      const { status } = await this.#options.client.call(podSandboxStatus, { id: sandboxId });
      const { ip = "", additionalIps = [] } = status?.network ?? {};
      const ips = primaryFirst([ip, ...additionalIps.map((one) => one.ip)], this.#options.isIpv6First);
      this.#ips.set(sandboxId, ips);
      return ips;
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }

  /** Undefined if it was removed since it was listed. */
  async #detail({ id, state }: ListedContainer): Promise<RuntimeContainer | undefined> {
    const known = this.#details.get(id);
    if (known?.state === state) return known.container;
    const forgets = this.#forgets;
    const status = await this.containerStatus(id);
    if (status === undefined) return undefined;
    const container = runtimeContainer(status, await this.#terminationMessage(status));
    // Its state may have changed since it was listed: the reported state is cached.
    if (this.#isSettled(container, status) && forgets === this.#forgets) this.#details.set(id, { state: status.state, container });
    return container;
  }

  async #terminationMessage(status: ContainerStatusMessage): Promise<string> {
    const { state } = runtimeContainer(status, "");
    if (state.is !== "exited") return "";
    const end = this.#ends.get(status.id) ?? { atMs: this.#options.clock.monotonic(), messageFromFile: await messageFromFile(status) };
    this.#ends.set(status.id, end);
    if (end.messageFromFile !== "" || !mayReadLog(status)) return end.messageFromFile ?? "";
    // A container that exited long ago, as after a restart of the kubelet, writes no more lines.
    if (this.#isWithin(LOG_SETTLED_MS, state.finishedAtMs)) await this.#untilLogIsWritten(end);
    return messageFromLog(status);
  }

  async #untilLogIsWritten({ atMs }: SeenEnd): Promise<void> {
    const { clock } = this.#options;
    const leftMs = atMs + LOG_WRITTEN_MS - clock.monotonic();
    if (leftMs > 0) await clock.sleep(leftMs);
  }

  /** Whether the details of its current state are final. */
  #isSettled({ state }: RuntimeContainer, status: ContainerStatusMessage): boolean {
    if (state.is !== "exited") return true;
    const hasReason = state.exitCode !== KILLED_EXIT_CODE || state.reason === OUT_OF_MEMORY;
    if (!hasReason && this.#isWithin(REASON_SETTLED_MS, state.finishedAtMs)) return false;
    return !mayReadLog(status) || !this.#isWithin(LOG_SETTLED_MS, state.finishedAtMs);
  }

  #isWithin(durationMs: number, sinceMs: number): boolean {
    return this.#options.clock.now() - sinceMs <= durationMs;
  }

  #forgetOthers({ sandboxes, containers }: Listing): void {
    const ids = new Set([...sandboxes, ...containers].map(({ id }) => id));
    for (const kept of [this.#ips, this.#details, this.#ends]) for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
  }

  #selector(podUid?: string) {
    const { owner } = this.#options;
    return entriesOf(podUid === undefined ? { [OWNER]: owner } : { [OWNER]: owner, [POD_UID]: podUid });
  }
}

export function uidOf({ labels }: Pick<ListedSandbox, "labels">): string {
  return labels.find(({ key }) => key === POD_UID)?.value ?? "";
}

function newestFirst(a: ListedSandbox, b: ListedSandbox): number {
  return b.createdAt < a.createdAt ? -1 : b.createdAt > a.createdAt ? 1 : (b.metadata?.attempt ?? 0) - (a.metadata?.attempt ?? 0);
}

function newestAttemptFirst(a: RuntimeContainer, b: RuntimeContainer): number {
  return b.attempt - a.attempt || b.createdAtMs - a.createdAtMs;
}

/** As upstream's kubelet: at most one of each family, that of the node's primary family first. */
export function primaryFirst(addresses: readonly string[], isIpv6First = false): readonly string[] {
  const known = addresses.filter((address) => address !== "");
  const [ipv4, ipv6] = [known.find((address) => !address.includes(":")), known.find((address) => address.includes(":"))];
  return (isIpv6First ? [ipv6, ipv4] : [ipv4, ipv6]).flatMap((address) => address ?? []);
}
