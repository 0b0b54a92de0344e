/** The output line by which a process reports its network components to the process that supervises it. */
import type { StartedNetworkComponents } from "./start-network-components.ts";

export const NETWORK_STATUS = /^network of \S+: (\[.*\])$/;

export function networkStatusLine(nodeName: string, list: StartedNetworkComponents["list"]): string {
  return `network of ${nodeName}: ${JSON.stringify(list)}`;
}

/** Undefined if it is another line. */
export function parseNetworkStatus(line: string): StartedNetworkComponents["list"] | undefined {
  const text = NETWORK_STATUS.exec(line)?.[1];
  return text === undefined ? undefined : (JSON.parse(text) as StartedNetworkComponents["list"]);
}
