/** SelfSubjectReview: the requesting user, for `kubectl auth whoami`. */
import { formatTime } from "../../../api/machinery/time.ts";
import { answered } from "../../framework/outcome.ts";
import { userInfo } from "../../shared/user-info.ts";
import type { ExtensionFactory } from "../../framework/server-context.ts";

export const selfSubjectReviewExtension: ExtensionFactory = ({ clock }) => ({
  group: "authentication.k8s.io",
  plural: "selfsubjectreviews",
  answer({ endpoint, object, request }) {
    const { apiVersion, kind } = object;
    const metadata = { creationTimestamp: formatTime(clock.now()) };
    return answered(endpoint, { kind, apiVersion, metadata, status: { userInfo: userInfo(request.context.user) } });
  },
});
