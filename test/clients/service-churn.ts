/**
 * Many clients that concurrently create, change and delete Services, on servers that may be killed, and the invariants of the allocated
 * addresses and ports: none is allocated twice, every address has its IPAddress, and acknowledged writes persist. A client whose server is
 * down does not know the result of its last request, as in production; it reconnects to another server and continues.
 */
import type { Service } from "../../src/api/generated/core/v1.ts";
import type { IPAddress } from "../../src/api/generated/networking.k8s.io/v1.ts";
import { pick, type Random } from "../../src/base/random.ts";
import type { Answer, HttpsClient } from "../../src/testing/servers/api-server-process.ts";

export const SERVICES = "/api/v1/namespaces/default/services";
const ALLOCATED = encodeURIComponent("ipaddress.kubernetes.io/managed-by=ipallocator.k8s.io");

/** Number of Services with names of a client's own, and of names shared by all clients. */
const OWN_NAMES = 3;
const SHARED_NAMES = 8;

/** So few that several clients request the same ones concurrently. */
const FIXED_NUMBERS = 4;

export interface ChurnOptions {
  readonly clients: number;
  /** Number of steps per client in one run. */
  readonly steps: number;
  readonly random: Random;
  /** Returns a connection to a server that is up, for the client of this index. */
  readonly connect: (client: number) => Promise<HttpsClient>;
}

/** Result of the last acknowledged write to each own name: its allocations, or that it was deleted. Others are unknown. */
type Known = ReadonlyMap<string, string>;
const GONE = "gone";

export class Churn {
  readonly #options: ChurnOptions;
  readonly #known = new Map<string, string>();
  /** Number of responses by code, for diagnosis. */
  readonly answers = new Map<string, number>();
  #acknowledged = 0;
  #reached: { readonly count: number; readonly resolve: () => void } | undefined;

  constructor(options: ChurnOptions) {
    this.#options = options;
    for (let client = 0; client < options.clients; client++) {
      for (let name = 0; name < OWN_NAMES; name++) this.#known.set(`own-${client}-${name}`, GONE);
    }
  }

  get known(): Known {
    return this.#known;
  }

  /** Resolves after `count` more acknowledged writes. */
  acknowledged(count: number): Promise<void> {
    return new Promise((resolve) => (this.#reached = { count: this.#acknowledged + count, resolve }));
  }

  /** Resolves when every client has done its steps. Rejects on an unexpected response. */
  async run(): Promise<void> {
    const { clients, random } = this.#options;
    await Promise.all(Array.from({ length: clients }, (_, index) => this.#client(index, random.derive(`client ${index}`))));
  }

  async #client(index: number, random: Random): Promise<void> {
    const { connect, steps } = this.#options;
    let connection = await connect(index);
    for (let step = 0; step < steps; step++) {
      const name = random.below(8) === 0 ? `shared-${random.below(SHARED_NAMES)}` : `own-${index}-${random.below(OWN_NAMES)}`;
      try {
        await this.#step(connection, name, random);
      } catch (error) {
        if (error instanceof UnexpectedAnswer) throw error;
        this.#known.delete(name);
        connection[Symbol.dispose]();
        connection = await connect(index);
      }
    }
    connection[Symbol.dispose]();
  }

  async #step(connection: HttpsClient, name: string, random: Random): Promise<void> {
    const isOwn = name.startsWith("own");
    const known = this.#known.get(name);
    const isThere = isOwn && known !== undefined ? known !== GONE : random.below(2) === 0;
    const action = !isThere ? "POST" : pick(random, ["PATCH", "PATCH", "PATCH", "DELETE"]);
    const body = action === "POST" ? aService(name, random) : action === "PATCH" ? aChange(random) : undefined;
    const answer = await connection.ask(action, action === "POST" ? SERVICES : `${SERVICES}/${name}`, body);
    this.#note(action, answer, { isKnown: isOwn && known !== undefined });
    if (answer.code >= 300) return;
    if (isOwn) this.#known.set(name, action === "DELETE" ? GONE : numbersText(JSON.parse(answer.body) as Service));
    this.#acknowledged += 1;
    if (this.#reached?.count === this.#acknowledged) this.#reached.resolve();
  }

  #note(action: string, answer: Answer, { isKnown }: { readonly isKnown: boolean }): void {
    const { code, body } = answer;
    const why = code < 300 ? "" : (JSON.parse(body) as { readonly message: string }).message;
    const what = `${action} ${code} ${EXPECTED.find((words) => why.includes(words)) ?? ""}`.trimEnd();
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1);
    const isRefused = [422, 500].includes(code) && EXPECTED.some((words) => why.includes(words));
    // Another client was first, which is impossible with a name of one's own.
    const isLate = [404, 409].includes(code) && !isKnown;
    if (code >= 300 && !isRefused && !isLate) throw new UnexpectedAnswer(`${action}: the server answered ${code}: ${body}`);
  }
}

class UnexpectedAnswer extends Error {}

/** Messages of expected rejections: the value is allocated, the range is full, or the change does not fit the Service. */
const EXPECTED = [
  "provided IP is already allocated",
  "provided port is already allocated",
  "range is full",
  "may not be set to 'None' for",
  "may not be set for ExternalName services",
];

function aService(name: string, random: Random): object {
  const type = pick(random, ["ClusterIP", "ClusterIP", "NodePort", "NodePort", "LoadBalancer", "ExternalName"]);
  const metadata = { name };
  if (type === "ExternalName") return { apiVersion: "v1", kind: "Service", metadata, spec: { type, externalName: "example.org" } };
  const fixedPort = type !== "ClusterIP" && random.below(6) === 0 ? { nodePort: 30_000 + random.below(FIXED_NUMBERS) } : {};
  const local = type === "LoadBalancer" && random.below(2) === 0 ? { externalTrafficPolicy: "Local" } : {};
  const fixed = `10.0.0.${10 + random.below(FIXED_NUMBERS)}`;
  const address = pick<object>(random, [
    {},
    {},
    { clusterIP: fixed },
    { ipFamilies: ["IPv6"] },
    { ipFamilyPolicy: "PreferDualStack" },
    { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6", "IPv4"] },
    { ipFamilyPolicy: "RequireDualStack", clusterIP: fixed, clusterIPs: [fixed, `fd00::${10 + random.below(FIXED_NUMBERS)}`] },
    type === "ClusterIP" ? { clusterIP: "None" } : {},
  ]);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { type, ports: [{ name: "a", port: 80, ...fixedPort }], ...local, ...address },
  };
}

/** Merge patches. The server drops fields that the new type does not have. */
function aChange(random: Random): object {
  const port = { name: "b", port: 81, ...(random.below(4) === 0 ? { nodePort: 30_000 + random.below(FIXED_NUMBERS) } : {}) };
  const spec = pick<object>(random, [
    { type: "ClusterIP", ports: [{ name: "a", port: 80 }] },
    { type: "NodePort", ports: [{ name: "a", port: 80 }] },
    { type: "NodePort", ports: [{ name: "a", port: 80 }, port] },
    { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [port] },
    { type: "ExternalName", externalName: "example.org" },
    { ipFamilyPolicy: "RequireDualStack" },
    { ipFamilyPolicy: "SingleStack" },
  ]);
  return { spec };
}

/** What a Service has allocated, in comparable form. */
interface Held {
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
}

function heldBy({ spec }: Service): Held {
  const { clusterIPs = [], ports = [], healthCheckNodePort } = spec ?? {};
  const nodePorts = [...ports.map(({ nodePort }) => nodePort), healthCheckNodePort].filter((port) => port !== undefined && port !== 0);
  return { addresses: clusterIPs.filter((address) => address !== "None"), ports: nodePorts as number[] };
}

function numbersText(service: Service): string {
  const { addresses, ports } = heldBy(service);
  return [...addresses, ...ports].join(" ");
}

export interface Numbers {
  /** Every Service but the cluster's own. */
  readonly names: readonly string[];
  readonly ipv4: number;
  readonly ipv6: number;
  readonly ports: number;
  readonly resourceVersion: string;
  /** One sentence per violated invariant. */
  readonly problems: readonly string[];
}

/** Reads everything; requires that no client writes. */
export async function readNumbers(connection: HttpsClient, known: Known = new Map()): Promise<Numbers> {
  const services = await list<Service>(connection, "/api/v1/services");
  const objects = await list<IPAddress>(connection, `/apis/networking.k8s.io/v1/ipaddresses?labelSelector=${ALLOCATED}`);
  const held = services.items.map((service) => ({ name: nameOf(service), ...heldBy(service) }));
  const addresses = held.flatMap((service) => service.addresses);
  const owners = held.flatMap(({ name, addresses: own }) => own.map((address) => `${address} of ${name}`));
  const parents = objects.items.map(({ metadata, spec: { parentRef } }) => {
    return `${metadata.name} of ${parentRef.namespace}/${parentRef.name}`;
  });
  const problems = [
    ...sharedNumbers(held),
    ...owners.filter((owner) => !parents.includes(owner)).map((owner) => `${owner} has no IPAddress`),
    ...parents
      .filter((parent) => !owners.includes(parent))
      .map((parent) => `the IPAddress of ${parent} exists, but ${parent} does not have the address`),
    ...forgotten(services.items, known),
  ];
  const ports = new Set(held.flatMap((service) => service.ports)).size;
  const ipv6 = addresses.filter((address) => address.includes(":")).length;
  const names = held.map(({ name }) => name).filter((name) => name !== "default/kubernetes");
  return { names, ipv4: addresses.length - ipv6, ipv6, ports, resourceVersion: services.metadata.resourceVersion, problems };
}

function sharedNumbers(services: readonly (Held & { readonly name: string })[]): string[] {
  const holders = new Map<string | number, string>();
  const problems: string[] = [];
  for (const { name, addresses, ports } of services) {
    for (const number of new Set([...addresses, ...ports])) {
      const other = holders.get(number);
      if (other !== undefined) problems.push(`${number} is allocated to ${other} and to ${name}`);
      holders.set(number, name);
    }
  }
  return problems;
}

/** An acknowledged write persists, with the allocations that were returned. */
function forgotten(services: readonly Service[], known: Known): string[] {
  const found = new Map(services.map((service) => [service.metadata.name, numbersText(service)]));
  return [...known].flatMap(([name, acknowledged]) => {
    const is = found.get(name) ?? GONE;
    return is === acknowledged ? [] : [`${name} was acknowledged with "${acknowledged}" and is "${is}"`];
  });
}

/** Checks the history of all Services: at no revision was a number allocated twice. Ends when the Service `last` is created. */
export async function sharedInHistory(
  connection: HttpsClient,
  from: { readonly resourceVersion: string },
  last: string,
): Promise<string[]> {
  const services = new Map<string, Held & { readonly name: string }>();
  const problems = new Set<string>();
  for await (const line of connection.stream(`/api/v1/services?watch=true&resourceVersion=${from.resourceVersion}`)) {
    const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: Service };
    if (type === "ERROR") throw new Error(`Cannot read the history of Services: ${line}`);
    const name = nameOf(object);
    if (type === "DELETED") services.delete(name);
    else services.set(name, { name, ...heldBy(object) });
    for (const problem of sharedNumbers([...services.values()])) problems.add(`${problem} at ${object.metadata.resourceVersion}`);
    if (object.metadata.name === last) break;
  }
  return [...problems];
}

function nameOf({ metadata }: Service): string {
  return `${metadata.namespace}/${metadata.name}`;
}

interface List<Item> {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Item[];
}

async function list<Item>(connection: HttpsClient, path: string): Promise<List<Item>> {
  const { code, body } = await connection.ask("GET", path);
  if (code !== 200) throw new Error(`Cannot list ${path}: the server answered ${code}: ${body}`);
  return JSON.parse(body) as List<Item>;
}
