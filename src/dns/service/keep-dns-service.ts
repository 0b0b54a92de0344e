/**
 * Creates the Service kube-system/kube-dns and the EndpointSlice of this server, and creates or corrects them again when they are deleted or
 * changed. A Service of another DNS server (with a selector) is left alone, and gets no slice of ours. Several servers share the Service:
 * each has its own slice.
 */
import { services } from "../../api/core/v1/service.ts";
import { serviceAccounts } from "../../api/core/v1/service-account.ts";
import { endpointSlices } from "../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { Service } from "../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { clusterRoleBindings } from "../../api/rbac.authorization.k8s.io/v1/cluster-role-binding.ts";
import { clusterRoles } from "../../api/rbac.authorization.k8s.io/v1/cluster-role.ts";
import { NOT_NEEDED } from "../../base/abort.ts";
import { Backoff } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client, Draft, ResourceKind } from "../../client/client.ts";
import { createIfMissing } from "../../client/create-if-missing.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { createClient } from "../../client/rest-client.ts";
import {
  addressFields,
  dnsAccount,
  dnsRole,
  dnsRoleBinding,
  dnsService,
  dnsSlice,
  DNS_SERVICE_KEY,
  isForeign,
  SERVICE_NAME_LABEL,
  type DnsEndpoint,
} from "./dns-objects.ts";

const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 10_000;

/** Interval at which a server that was not ready is checked again. */
const READY_POLL_MS = 50;

const FIELD_MANAGER = "k8ts-dns";

/** Creates the identity of the DNS server and its permissions, if they are missing. Existing ones are the administrator's to change. */
export async function createDnsIdentity(transport: Transport): Promise<void> {
  const client = createClient(transport).with({ fieldManager: FIELD_MANAGER });
  await createIfMissing(client, serviceAccounts, dnsAccount);
  await createIfMissing(client, clusterRoles, dnsRole);
  await createIfMissing(client, clusterRoleBindings, dnsRoleBinding);
}

export interface KeepDnsServiceOptions {
  /** May create and update Services and EndpointSlices of kube-system. */
  readonly transport: Transport;
  /** One per family. */
  readonly clusterIps: readonly string[];
  /** The server's address of each family. */
  readonly endpoints: readonly Omit<DnsEndpoint, "isReady">[];
  /** Whether the server can answer; once it can, it stays so. Until then the EndpointSlice says that it is not ready. */
  isReady(): boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  warn(message: string): void;
}

export interface KeptDnsService extends AsyncDisposable {
  /** Resolves after the first attempt, whether it succeeded or not. */
  readonly attempted: Promise<void>;
}

export function keepDnsService(options: KeepDnsServiceOptions): KeptDnsService {
  const { transport, clock, random, log } = options;
  const stop = new AbortController();
  const informers = createInformers({ transport, clock, random: random.derive("dns-service"), log });
  const wake = new Wake();
  const handler = { added: () => wake.up(), updated: () => wake.up(), deleted: () => wake.up() };
  informers.of(services, { namespace: DNS_SERVICE_KEY.namespace, fieldSelector: `metadata.name=${DNS_SERVICE_KEY.name}` }).listen(handler);
  const ofService = { namespace: DNS_SERVICE_KEY.namespace, labelSelector: `${SERVICE_NAME_LABEL}=${DNS_SERVICE_KEY.name}` };
  informers.of(endpointSlices, ofService).listen(handler);
  const client = createClient(transport).with({ fieldManager: FIELD_MANAGER, signal: stop.signal });
  let attempted = () => {};
  const first = new Promise<void>((resolve) => (attempted = resolve));
  const keeping = keep(client, { options, wake, attempted, signal: stop.signal });
  return {
    attempted: first,
    async [Symbol.asyncDispose]() {
      stop.abort(NOT_NEEDED);
      wake.up();
      await keeping;
      await informers.close();
    },
  };
}

interface Keeping {
  readonly options: KeepDnsServiceOptions;
  readonly wake: Wake;
  attempted(): void;
  readonly signal: AbortSignal;
}

async function keep(client: Client, { options, wake, attempted, signal }: Keeping): Promise<void> {
  const { clock, random, log, warn } = options;
  const delays = new Backoff({ minMs: RETRY_MIN_MS, maxMs: RETRY_MAX_MS, random });
  let hasWarned = false;
  while (!signal.aborted) {
    try {
      const isReady = options.isReady();
      await reconcile(client, options, isReady);
      delays.reset();
      attempted();
      if (isReady) await wake.wait();
      else await untilReady(options, signal);
    } catch (error) {
      if (signal.aborted) return attempted();
      log.warn("Keeping the Service kube-system/kube-dns failed", { error });
      if (!hasWarned) warn(`Pods cannot use the DNS server yet: ${error instanceof Error ? error.message : String(error)}`);
      hasWarned = true;
      attempted();
      await clock.sleep(delays.next(), signal).catch(() => undefined);
    }
  }
  attempted();
}

async function untilReady({ isReady, clock }: KeepDnsServiceOptions, signal: AbortSignal): Promise<void> {
  while (!isReady() && !signal.aborted) await clock.sleep(READY_POLL_MS, signal).catch(() => undefined);
}

async function reconcile(plain: Client, options: KeepDnsServiceOptions, isReady: boolean): Promise<void> {
  const { namespace, name } = DNS_SERVICE_KEY;
  const client = plain.with({ cause: { controller: "dns", key: `${namespace}/${name}`, reason: isReady ? "Ready" : "NotReady" } });
  const { clusterIps, endpoints, log, warn } = options;
  const found = await find(client, services, DNS_SERVICE_KEY);
  const service = found ?? (await client.create(services, dnsService(clusterIps)));
  const isOthers = isForeign(service);
  if (!isOthers) await correctAddresses(client, service, clusterIps);
  for (const endpoint of endpoints) {
    const draft = dnsSlice({ ...endpoint, isReady }, service);
    const key = { namespace: DNS_SERVICE_KEY.namespace, name: draft.metadata.name ?? "" };
    const slice = await find(client, endpointSlices, key);
    if (isOthers) {
      if (slice === undefined) continue;
      log.warn("The Service kube-system/kube-dns has a selector: another DNS server is used");
      warn("The Service kube-system/kube-dns has a selector: its Pods answer DNS queries");
      await client.delete(endpointSlices, key);
    } else if (slice === undefined) await client.create(endpointSlices, draft);
    else if (!isSame(slice, draft))
      await client.update(endpointSlices, { ...slice, ...draft, metadata: { ...slice.metadata, ...draft.metadata } });
  }
}

/** The first address cannot be changed; one of a second family is added to a Service of a cluster that had one. */
async function correctAddresses(client: Client, service: Service, clusterIps: readonly string[]): Promise<void> {
  const [primary = "", secondary] = clusterIps;
  if (service.spec?.clusterIP !== primary) throw wrongAddress(service, primary);
  if (secondary === undefined || service.spec.clusterIPs?.includes(secondary)) return;
  await client.patch(services, DNS_SERVICE_KEY, { type: "merge", value: { spec: addressFields(clusterIps) } });
}

function wrongAddress({ spec }: Service, clusterIp: string): Error {
  return new Error(
    `The Service kube-system/kube-dns has the address ${spec?.clusterIP ?? ""}, but Pods query ${clusterIp}: delete the Service, and it is created again`,
  );
}

function isSame(slice: EndpointSlice, { endpoints, ports, metadata }: Draft<EndpointSlice>): boolean {
  const { labels, ownerReferences } = slice.metadata;
  return (
    deepEqual(slice.endpoints, endpoints) &&
    deepEqual(slice.ports, ports) &&
    deepEqual(labels, metadata.labels) &&
    deepEqual(ownerReferences, metadata.ownerReferences)
  );
}

async function find<T extends KubeObject>(
  client: Client,
  kind: ResourceKind<T>,
  key: { namespace: string; name: string },
): Promise<T | undefined> {
  try {
    return await client.get(kind, key);
  } catch (error) {
    if (isReason(error, "NotFound")) return undefined;
    throw error;
  }
}

/** Wakes one waiter; a change while the waiter is busy is not lost. */
class Wake {
  #isUp = false;
  #waiter: (() => void) | undefined;

  up(): void {
    this.#isUp = true;
    this.#waiter?.();
  }

  async wait(): Promise<void> {
    if (!this.#isUp) await new Promise<void>((resolve) => (this.#waiter = resolve));
    this.#isUp = false;
    this.#waiter = undefined;
  }
}
