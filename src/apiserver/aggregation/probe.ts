/** Asks an aggregated API server for its discovery document, as upstream's availability check. */
import type { GroupVersion } from "../../api/machinery/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { User } from "../framework/request.ts";
import { discoveryPath } from "./api-service.ts";
import { discard, messageOf, withTimeout, type RemoteServer } from "./remote-server.ts";

/** Always authorized. As upstream. */
export const AGGREGATOR: User = { name: "system:kube-aggregator", groups: ["system:masters"] };

const PROBE_TIMEOUT_MS = 5_000;
/** As upstream, which sends all at once: here the others follow only if the first fails, on random endpoints. */
const FURTHER_ATTEMPTS = 4;

/** Undefined: it responds. Otherwise the error of the last attempt. */
export async function probe(server: RemoteServer, place: GroupVersion, clock: Clock): Promise<string | undefined> {
  const first = await attempt(server, place, clock);
  if (first === undefined) return undefined;
  const others = await Promise.all(Array.from({ length: FURTHER_ATTEMPTS }, () => attempt(server, place, clock)));
  return others.includes(undefined) ? undefined : (others.at(-1) ?? first);
}

async function attempt(server: RemoteServer, place: GroupVersion, clock: Clock): Promise<string | undefined> {
  let url = "";
  try {
    const endpoint = await server.resolve();
    const { host, port } = endpoint;
    url = `https://${host.includes(":") ? `[${host}]` : host}:${port}${discoveryPath(place)}`;
    const request = { user: AGGREGATOR, method: "GET", target: discoveryPath(place), headers: { accept: "application/json" } };
    const code = await withTimeout(clock, PROBE_TIMEOUT_MS, undefined, async (signal) => {
      const answer = await server.send(endpoint, { ...request, signal });
      discard(answer);
      return "code" in answer ? answer.code : 101;
    });
    return code >= 200 && code < 300 ? undefined : `failing or missing response from ${url}: bad status from ${url}: ${code}`;
  } catch (error) {
    return url === "" ? messageOf(error) : `failing or missing response from ${url}: Get "${url}": ${messageOf(error)}`;
  }
}
