/**
 * Who leads, for programs of any language: GET / on an address of this machine answers {"name": "…", "isLeader": true}. Plain HTTP, since
 * it is meant for the neighbours in a Pod and says nothing that is secret.
 */
import { startHttpPages, type HttpAddress, type HttpPages } from "./http-pages.ts";

export interface ElectionPageOptions extends HttpAddress {
  /** Asked at every request. */
  state(): { readonly name: string; readonly isLeader: boolean };
}

export function startElectionPage({ state, ...address }: ElectionPageOptions): Promise<HttpPages> {
  return startHttpPages(address, { "/": { type: "application/json", text: () => JSON.stringify(state()) } });
}
