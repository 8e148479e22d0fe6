import { type MigrationSet } from '../migration';
import { createResourceStore } from '../migrations/1795000000000-create-resource-store';
import { createCredentials } from '../migrations/1795000000001-create-credentials';
import { createAddendum } from '../migrations/1795000000002-create-addendum';
import { createDelivery } from '../migrations/1795000000003-create-delivery';
import { indexHistoryByTime } from '../migrations/1795000000005-index-history-by-time';
import { createLiveSearchParameters } from '../migrations/1795000000006-create-live-search-parameters';
import { createAccessDenials } from '../migrations/1795000000007-create-access-denials';
import { createCredentialFailure } from '../migrations/1795000000010-create-credential-failure';
import { createEverythingList } from '../migrations/1795000000012-create-everything-list';
import { replaceQueueFloors } from '../migrations/1795000000100-replace-queue-floors';
import { keepTheOriginOfBatches } from '../migrations/1795000000101-keep-the-origin-of-batches';
import { createDeliveryGeneration } from '../migrations/1795000000102-create-delivery-generation';
import { boundTheSearchForOpenBatches } from '../migrations/1795000000103-bound-the-search-for-open-batches';
import { dropSuspectDestinations } from '../migrations/1795000000110-drop-suspect-destinations';
import { indexVersionsByTransaction } from '../migrations/1795000000120-index-versions-by-transaction';
import { keySearchIndexRows } from '../migrations/1795000000200-key-search-index-rows';
import { identifyDeliveryAttempts } from '../migrations/1795000000201-identify-delivery-attempts';
import { indexLoginNamesByLowerCase } from '../migrations/1795000000220-index-login-names-by-lower-case';
import { maskQueriesOfEndpoints } from '../migrations/1795000000300-mask-queries-of-endpoints';
import { keepParameterStates } from '../migrations/1795000000320-keep-parameter-states';
import { createRpcKeptCall } from '../migrations/1795000000410-create-rpc-kept-call';
import { countDeliveriesByHour } from '../migrations/1795000000411-count-deliveries-by-hour';
import { createSessionLink } from '../migrations/1795000000412-create-session-link';

/** The migrations of the server. The list is explicit, since a glob would differ between src and dist. */
export const CORE: MigrationSet = {
  module: 'core',
  migrations: [
    createResourceStore,
    createCredentials,
    createAddendum,
    createDelivery,
    indexHistoryByTime,
    createLiveSearchParameters,
    createAccessDenials,
    createCredentialFailure,
    createEverythingList,
    replaceQueueFloors,
    keepTheOriginOfBatches,
    createDeliveryGeneration,
    boundTheSearchForOpenBatches,
    dropSuspectDestinations,
    indexVersionsByTransaction,
    keySearchIndexRows,
    identifyDeliveryAttempts,
    indexLoginNamesByLowerCase,
    maskQueriesOfEndpoints,
    keepParameterStates,
    createRpcKeptCall,
    countDeliveriesByHour,
    createSessionLink,
  ],
};
