/** Warnings about the containers of a Pod: variables that hide each other and overlapping ports. */
import type { Warnings } from "../../../../machinery/findings.ts";
import type { ContainerPort, EnvVar, PodSpec } from "../../../../generated/core/v1.ts";
import { allContainers, type PlacedContainer } from "../containers.ts";
import { fractionWarnings } from "../fractions.ts";

export function containerWarnings(warnings: Warnings, spec: PodSpec, at: string): void {
  const containers = allContainers(spec, at);
  for (const { container, at: here } of containers) {
    fractionWarnings(warnings, container.resources?.limits, `${here}.resources.limits`);
    fractionWarnings(warnings, container.resources?.requests, `${here}.resources.requests`);
    hiddenVariables(warnings, container.env ?? [], `${here}.env`);
  }
  portWarnings(warnings, containers);
  portNameWarnings(warnings, containers);
}

/** A second definition may build on the first ("$(PATH):/more"); any other hides it. */
function hiddenVariables(warnings: Warnings, variables: readonly EnvVar[], at: string): void {
  const seen = new Set<string>();
  for (const [index, { name, value = "", valueFrom }] of variables.entries()) {
    const reference = `$(${name})`;
    const buildsOnIt = valueFrom === undefined && value !== reference && value.includes(reference);
    if (seen.has(name) && !buildsOnIt) {
      warnings.add(`${at}[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`);
    }
    seen.add(name);
  }
}

interface PlacedPort {
  readonly port: ContainerPort;
  readonly at: string;
}

function* portsOf(containers: readonly PlacedContainer[]): Iterable<PlacedPort> {
  for (const { container, at } of containers) {
    for (const [index, port] of (container.ports ?? []).entries()) yield { port, at: `${at}.ports[${index}]` };
  }
}

function portWarnings(warnings: Warnings, containers: readonly PlacedContainer[]): void {
  const seen = new SeenPorts();
  for (const placed of portsOf(containers)) {
    const { port, at } = placed;
    if (port.hostIP && !port.hostPort) warnings.add(`${at}: hostIP set without hostPort: ${asGo(port)}`);
    for (const other of seen.meeting(port)) warnings.add(`${at}: ${howTheyMeet(port, other.port)} port definition with ${other.at}`);
    seen.add(placed);
  }
}

/** Indexes ports by what can overlap, so that unrelated ports are never compared: a client controls how many there are. */
class SeenPorts {
  readonly #ports = new Map<string, { readonly placed: PlacedPort; readonly place: number }[]>();
  #count = 0;

  add(placed: PlacedPort): void {
    const entry = { placed, place: this.#count++ };
    for (const key of keysOfPort(placed.port)) {
      const others = this.#ports.get(key);
      if (others === undefined) this.#ports.set(key, [entry]);
      else others.push(entry);
    }
  }

  /** In insertion order. */
  meeting(port: ContainerPort): readonly PlacedPort[] {
    const entries = keysOfMeeting(port).flatMap((key) => this.#ports.get(key) ?? []);
    return entries.sort((a, b) => a.place - b.place).map(({ placed }) => placed);
  }
}

/** Keys of a port: its number, without a host port, with its host port, with its host IP too. */
function keysOfPort({ containerPort, protocol, hostPort = 0, hostIP = "" }: ContainerPort): readonly string[] {
  const all = `${containerPort}/${protocol ?? ""}`;
  return hostPort === 0 ? [all, `${all} 0`] : [all, `${all} ${hostPort}`, `${all} ${hostPort} ${JSON.stringify(hostIP)}`];
}

/** A port without a host port overlaps all. A host port on all addresses overlaps every one with its number. */
function keysOfMeeting({ containerPort, protocol, hostPort = 0, hostIP = "" }: ContainerPort): readonly string[] {
  const all = `${containerPort}/${protocol ?? ""}`;
  if (hostPort === 0) return [all];
  if (hostIP === "") return [`${all} 0`, `${all} ${hostPort}`];
  return [`${all} 0`, `${all} ${hostPort} ""`, `${all} ${hostPort} ${JSON.stringify(hostIP)}`];
}

function howTheyMeet(port: ContainerPort, other: ContainerPort): string {
  const [hostPort, otherHostPort] = [port.hostPort ?? 0, other.hostPort ?? 0];
  if ((port.hostIP ?? "") === (other.hostIP ?? "") && hostPort === otherHostPort) return "duplicate";
  if (hostPort === 0 || otherHostPort === 0) return "overlapping";
  // One of them uses the port on all addresses, including the other's.
  return "dangerously ambiguous";
}

/** In the format of Go's struct. */
function asGo({ name = "", hostPort = 0, containerPort, protocol, hostIP = "" }: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol ?? ""} HostIP:${hostIP}}`;
}

function portNameWarnings(warnings: Warnings, containers: readonly PlacedContainer[]): void {
  const seen = new Map<string, string>();
  for (const { port, at } of portsOf(containers)) {
    if (!port.name) continue;
    const other = seen.get(port.name);
    if (other === undefined) seen.set(port.name, at);
    else {
      const effect = `services and probes that select ports by name will use ${other}`;
      warnings.add(`${at}: duplicate port name ${JSON.stringify(port.name)} with ${other}, ${effect}`);
    }
  }
}
