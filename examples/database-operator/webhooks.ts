/** The operator's webhooks, over the pure functions of database.ts. */
import { startWebhookServer, type AdmissionCall, type WebhookServer } from "k8ts/controllers";
import { convert, problemOf, withLabels, type Database } from "./database.ts";
import { PATHS } from "./manifests.ts";

export function startWebhooks(): Promise<WebhookServer> {
  return startWebhookServer({
    conversion: { [PATHS.convert]: convert },
    admission: {
      [PATHS.mutate]: ({ object }: AdmissionCall) => ({ allowed: true, object: withLabels(object as Database) }),
      [PATHS.validate]: ({ object, oldObject }: AdmissionCall) => {
        const message = problemOf(object as Database, oldObject as Database | undefined);
        return message === undefined ? { allowed: true } : { allowed: false, message };
      },
    },
  });
}
