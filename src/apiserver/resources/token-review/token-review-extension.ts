/** TokenReview: whose token is this? The answer is that of the authenticator which every request asks. */
import type { TokenReview, TokenReviewSpec, TokenReviewStatus } from "../../../api/generated/authentication.k8s.io/v1.ts";
import { badRequest } from "../../../api/machinery/status-error.ts";
import type { ExtensionFactory } from "../../extension.ts";
import { answered } from "../../outcome.ts";
import type { User } from "../../request.ts";
import { userInfo } from "../../user-info.ts";

export const tokenReviewExtension: ExtensionFactory = ({ authenticator }) => ({
  group: "authentication.k8s.io",
  plural: "tokenreviews",
  answer({ endpoint, object }) {
    const review = object as unknown as TokenReview;
    const token = tokenOf(review.spec);
    if (token === "") throw badRequest("token is required for TokenReview in authentication");
    return answered(endpoint, { ...review, status: statusOf(authenticator.authenticateToken(token)) });
  },
});

/** The type says that there is one; a client may have left it out. */
function tokenOf({ token }: Partial<TokenReviewSpec>): string {
  return token ?? "";
}

/** Upstream shows an empty user where there is none. */
function statusOf(user: User | undefined): TokenReviewStatus {
  return user === undefined ? { user: {}, error: "invalid bearer token" } : { authenticated: true, user: userInfo(user) };
}
