/** The resolver of each connection, by resource and subresource. */
import type { Resolvers } from "../framework/connection.ts";
import { nodeProxy } from "./node.ts";
import { podContainer, podLog, podPorts, podProxy } from "./pod.ts";
import { serviceProxy } from "./service.ts";

export const all: Resolvers = new Map([
  ["nodes/proxy", nodeProxy],
  ["pods/attach", podContainer],
  ["pods/exec", podContainer],
  ["pods/log", podLog],
  ["pods/portforward", podPorts],
  ["pods/proxy", podProxy],
  ["services/proxy", serviceProxy],
]);
