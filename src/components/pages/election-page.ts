/**
 * Leader election status for other programs: GET / on a local address returns {"name": "…", "isLeader": true}. Plain HTTP, because it is
 * meant for containers of the same Pod and contains no secret.
 */
import { startHttpPages, type HttpAddress, type HttpPages } from "./http-pages.ts";

export interface ElectionPageOptions extends HttpAddress {
  /** Evaluated at every request. */
  state(): { readonly name: string; readonly isLeader: boolean };
}

export function startElectionPage({ state, ...address }: ElectionPageOptions): Promise<HttpPages> {
  return startHttpPages(address, { "/": { type: "application/json", text: () => JSON.stringify(state()) } });
}
