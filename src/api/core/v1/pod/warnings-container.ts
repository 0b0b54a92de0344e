/** Warnings about the containers of a pod: variables that hide each other and ports that meet. */
import type { ContainerPort, EnvVar, PodSpec } from "../../../generated/core/v1.ts";
import { allContainers, type PlacedContainer } from "./containers.ts";
import { fractionWarnings } from "./fractions.ts";

export function* containerWarnings(spec: PodSpec, at: string): Iterable<string> {
  const containers = allContainers(spec, at);
  for (const { container, at: here } of containers) {
    yield* fractionWarnings(container.resources?.limits, `${here}.resources.limits`);
    yield* fractionWarnings(container.resources?.requests, `${here}.resources.requests`);
    yield* hiddenVariables(container.env ?? [], `${here}.env`);
  }
  yield* portWarnings(containers);
  yield* portNameWarnings(containers);
}

/** A second definition may build on the first ("$(PATH):/more"); any other hides it. */
function* hiddenVariables(variables: readonly EnvVar[], at: string): Iterable<string> {
  const seen = new Set<string>();
  for (const [index, { name, value = "", valueFrom }] of variables.entries()) {
    const reference = `$(${name})`;
    const buildsOnIt = valueFrom === undefined && value !== reference && value.includes(reference);
    if (seen.has(name) && !buildsOnIt) {
      yield `${at}[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
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

function* portWarnings(containers: readonly PlacedContainer[]): Iterable<string> {
  const seen = new Map<string, PlacedPort[]>();
  for (const placed of portsOf(containers)) {
    const { port, at } = placed;
    if (port.hostIP && !port.hostPort) yield `${at}: hostIP set without hostPort: ${asGo(port)}`;
    const key = `${port.containerPort}/${port.protocol ?? ""}`;
    const others = seen.get(key) ?? [];
    for (const other of others) {
      const words = howTheyMeet(port, other.port);
      if (words !== undefined) yield `${at}: ${words} port definition with ${other.at}`;
    }
    seen.set(key, [...others, placed]);
  }
}

function howTheyMeet(port: ContainerPort, other: ContainerPort): string | undefined {
  const [ip, otherIp] = [port.hostIP ?? "", other.hostIP ?? ""];
  const [hostPort, otherHostPort] = [port.hostPort ?? 0, other.hostPort ?? 0];
  if (ip === otherIp && hostPort === otherHostPort) return "duplicate";
  if (hostPort === 0 || otherHostPort === 0) return "overlapping";
  // One of them takes the port on every address, also on the other's.
  return hostPort === otherHostPort && (ip === "") !== (otherIp === "") ? "dangerously ambiguous" : undefined;
}

/** As Go prints the struct. */
function asGo({ name = "", hostPort = 0, containerPort, protocol, hostIP = "" }: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol ?? ""} HostIP:${hostIP}}`;
}

function* portNameWarnings(containers: readonly PlacedContainer[]): Iterable<string> {
  const seen = new Map<string, string>();
  for (const { port, at } of portsOf(containers)) {
    if (!port.name) continue;
    const other = seen.get(port.name);
    if (other === undefined) seen.set(port.name, at);
    else {
      const effect = `services and probes that select ports by name will use ${other}`;
      yield `${at}: duplicate port name ${JSON.stringify(port.name)} with ${other}, ${effect}`;
    }
  }
}
