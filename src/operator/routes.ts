import type { App } from '../http/app.ts';
import { handleNotFound } from '../http/errors.ts';
import { registerOpenApi } from '../http/openapi.ts';
import { registerReferencePage } from '../http/reference-page.ts';
import { version } from '../version.ts';
import { operatorAccountRoutes, type AccountRouteDeps } from './account-routes.ts';
import { createOperatorAuth } from './auth.ts';
import { deliveryRoutes, type DeliveryRouteDeps } from './delivery-routes.ts';
import { operatorKeyRoutes, type OperatorKeyRouteDeps } from './key-routes.ts';
import { operatorMessageRoutes } from './message-routes.ts';
import { providerRoutes, type ProviderRouteDeps } from './provider-routes.ts';
import { redactionRoutes } from './redaction-routes.ts';
import { operatorSenderRoutes, type OperatorSenderRouteDeps } from './sender-routes.ts';
import { suppressionRoutes, type SuppressionRouteDeps } from './suppression-routes.ts';
import { transferRoutes, type TransferRouteDeps } from './transfer-routes.ts';
import { upkeepRoutes } from './upkeep-routes.ts';

export type OperatorDeps = AccountRouteDeps &
  TransferRouteDeps &
  OperatorKeyRouteDeps &
  OperatorSenderRouteDeps &
  SuppressionRouteDeps &
  DeliveryRouteDeps &
  ProviderRouteDeps & { operatorToken: string };

/** What the service's owner does: everything that the public API leaves to it. */
export async function operatorRoutes(app: App, deps: OperatorDeps): Promise<void> {
  await registerOpenApi(app, {
    prefix: '/operator/v1',
    title: 'Heliograph: operator',
    description:
      'Run the service: accounts, money, keys, senders, suppressions; follow any message; mend webhooks; watch providers and the ledger.',
    version,
    bearer: {
      name: 'operatorToken',
      description: 'The operator token: `OPERATOR_TOKEN`, or the one kept in the data folder.',
      request: 'the operator token in the header "Authorization: Bearer <OPERATOR_TOKEN>"',
    },
    path: '/operator/openapi.json',
    decorator: 'operatorApi',
    meanings: {
      400: 'The request is not valid; `error.param` names what to mend.',
      401: 'The operator token is missing or wrong.',
      404: 'There is no such resource.',
      500: 'Something went wrong on our side.',
    },
  });
  await registerReferencePage(app, {
    path: '/operator/docs',
    documentPath: '/operator/openapi.json',
    title: 'Heliograph: operator API',
  });
  app.register(
    async (scope) => {
      const api = scope as unknown as App;
      api.addHook('onRequest', createOperatorAuth(deps.operatorToken));
      api.setNotFoundHandler(handleNotFound);
      operatorAccountRoutes(api, deps);
      transferRoutes(api, deps);
      operatorKeyRoutes(api, deps);
      operatorSenderRoutes(api, deps);
      operatorMessageRoutes(api, deps);
      deliveryRoutes(api, deps);
      suppressionRoutes(api, deps);
      providerRoutes(api, deps);
      redactionRoutes(api, deps);
      upkeepRoutes(api, deps);
    },
    { prefix: '/operator/v1' },
  );
}
