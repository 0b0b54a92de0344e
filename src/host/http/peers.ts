/** Who is at the other end of a connection: found out once per connection, not once per request. */
import type { TLSSocket } from "node:tls";
import type { HttpPeer } from "./contract.ts";

export class Peers {
  readonly #known = new WeakMap<object, HttpPeer>();
  readonly #trustCertificates: boolean;

  /** Only with authorities of our own can a certificate be trusted: Node would take one that any public authority has signed. */
  constructor({ trustCertificates }: { readonly trustCertificates: boolean }) {
    this.#trustCertificates = trustCertificates;
  }

  of(socket: TLSSocket): HttpPeer {
    let peer = this.#known.get(socket);
    if (peer === undefined) {
      peer = this.#describe(socket);
      this.#known.set(socket, peer);
    }
    return peer;
  }

  #describe(socket: TLSSocket): HttpPeer {
    // An IPv4 client of a socket that also takes IPv6.
    const address = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
    const certificate = this.#trustCertificates && socket.authorized ? socket.getPeerX509Certificate()?.toString() : undefined;
    return {
      address,
      isLoopback: address === "::1" || address.startsWith("127."),
      ...(certificate === undefined ? {} : { certificate }),
    };
  }
}
