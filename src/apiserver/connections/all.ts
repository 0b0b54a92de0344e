/** Where each connection leads, by resource and subresource. */
import { groupResourceOf } from "../../api/machinery/object.ts";
import type { ResourceName } from "../../api/machinery/status-error.ts";
import type { Resolver } from "../framework/connection.ts";
import { nodeProxy } from "./node.ts";
import { podContainer, podLog, podPorts, podProxy } from "./pod.ts";
import { serviceProxy } from "./service.ts";

const all: ReadonlyMap<string, Resolver> = new Map([
  ["nodes/proxy", nodeProxy],
  ["pods/attach", podContainer],
  ["pods/exec", podContainer],
  ["pods/log", podLog],
  ["pods/portforward", podPorts],
  ["pods/proxy", podProxy],
  ["services/proxy", serviceProxy],
]);

export function resolverOf({ group, plural }: ResourceName, subresource: string): Resolver | undefined {
  return all.get(`${groupResourceOf(group, plural)}/${subresource}`);
}
