/**
 * Advice for a component that waits for an API server in vain: some failures do not resolve by themselves, and the server's or TLS's
 * messages do not say where the mistake is. Not here: the waiting (await-server.ts).
 */
import { isReason } from "../api/machinery/status-error.ts";

type Advice = (source: string) => string;

const CHECK_CREDENTIALS: Advice = (source) => `check the credentials in ${source}: the server rejects them`;

/** TLS errors are identified by the messages of OpenSSL and Node, which are kept by wrapping errors. */
const OF_CERTIFICATES: readonly (readonly [words: RegExp, advice: Advice])[] = [
  [
    /certificate is not yet valid|certificate has expired/,
    (source) =>
      `compare the clocks of this machine and of the server in ${source}; if both are right, the server's certificate must be renewed`,
  ],
  [
    /self-signed certificate|unable to verify the first certificate|unable to get (local )?issuer certificate|certificate signature failure/,
    (source) => `check the certificate authority in ${source}: it did not sign the server's certificate`,
  ],
  [
    /does not match certificate's altnames/,
    (source) => `check the server address in ${source}: the server's certificate is valid neither for it nor for its tls-server-name`,
  ],
  [/alert (bad certificate|unsupported certificate|unknown ca|certificate \w+)/, CHECK_CREDENTIALS],
];

/** `source`: origin of the connection, such as "the current context of admin.conf". Undefined: may resolve by itself. */
export function connectionAdvice(error: unknown, source: string): string | undefined {
  if (isReason(error, "Unauthorized")) return CHECK_CREDENTIALS(source);
  const { message } = error as Error;
  return OF_CERTIFICATES.find(([words]) => words.test(message))?.[1](source);
}
