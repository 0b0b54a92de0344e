/**
 * Authenticates clients by a certificate of the client CA: CN is the user name, each O a group. A certificate without a CN or without a
 * trusted issuer is an invalid credential, so the request does not count as anonymous.
 */
import { AuthenticationError, type RequestAuthenticatorFactory } from "../../framework/authentication.ts";
import type { PeerCertificate } from "../../framework/exchange.ts";
import type { User } from "../../framework/request.ts";
import { validSubject, type PeerSubject } from "../peer-certificate.ts";

export const clientCertificates: RequestAuthenticatorFactory = ({ identity: { clientAuthority }, clock }) => {
  if (clientAuthority === undefined) return undefined;
  const users = new WeakMap<PeerCertificate, User>();
  return {
    name: "client certificate",
    authenticate({ peer: { certificate } }) {
      if (certificate === undefined) return undefined;
      if (!certificate.authorities.includes(clientAuthority))
        throw new AuthenticationError("x509: certificate signed by unknown authority");
      const subject = validSubject(certificate, clock.now());
      if (subject.commonName === "") throw new AuthenticationError("x509: the certificate names no user");
      let user = users.get(certificate);
      if (user === undefined) {
        user = userOf(subject);
        users.set(certificate, user);
      }
      return user;
    },
  };
};

function userOf({ commonName, organizations, uids, fingerprint }: PeerSubject): User {
  const [uid] = uids;
  if (uids.length > 1) throw new AuthenticationError(`expected 1 UID, but found multiple: [${uids.join(" ")}]`);
  if (uid === "") throw new AuthenticationError("UID cannot be an empty string");
  return {
    name: commonName,
    ...(uid === undefined ? {} : { uid }),
    groups: organizations,
    extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] },
  };
}
