import { fakePromptApi } from '../../../fixtures/browser-model/prompt-api.ts';
import { promptApiContract } from '../../../fixtures/browser-model/prompt-api-contract.ts';

promptApiContract(() => fakePromptApi());
