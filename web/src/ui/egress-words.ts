// What kinds of private data are called, and what something left the device for. The rest of them, such as
// national numbers, are shown by their own names, and rules of the operator by theirs.
import { t, type TextName } from '../texts'

const KINDS: Record<string, TextName> = {
  EMAIL_ADDRESS: 'kindEmail',
  PHONE_NUMBER: 'kindPhone',
  CREDIT_CARD: 'kindCard',
  IBAN_CODE: 'kindIban',
  US_SSN: 'kindSsn',
  IP_ADDRESS: 'kindIp',
  API_KEY: 'kindApiKey',
  PRIVATE_KEY: 'kindPrivateKey',
  PERSON: 'kindPerson',
  GPE: 'kindPlace',
  ORGANIZATION: 'kindOrganization',
  DATE_TIME: 'kindDate',
  AGE: 'kindAge',
  TITLE: 'kindTitle',
  NRP: 'kindNrp',
  STREET_ADDRESS: 'kindAddress',
  ZIP_CODE: 'kindZip',
  PASSPORT: 'kindPassport',
  DRIVER_LICENSE: 'kindLicense',
  MEDICAL_RECORD_NUMBER: 'kindRecord',
  MEDICATION: 'kindMedication',
  ICD10_CODE: 'kindDiagnosis',
  DOMAIN_NAME: 'kindDomain',
  COORDINATES: 'kindCoordinates',
  LICENSE_PLATE: 'kindPlate',
  PIN: 'kindPin',
  US_BANK_NUMBER: 'kindAccount',
}

export function kindName(type: string): string {
  const name = KINDS[type]
  if (name) return t(name)
  if (!/^[A-Z0-9_]+$/.test(type)) return type // of a rule of the operator's
  const [first = '', ...rest] = type.split('_')
  return [first, ...rest.map((word) => word.toLowerCase())].join(' ')
}

const PURPOSES: Record<string, TextName> = {
  attempt: 'purposeAttempt',
  retry: 'purposeRetry',
  hedge: 'purposeHedge',
  shadow: 'purposeShadow',
  verification: 'purposeVerification',
  health_check: 'purposeHealth',
  continuation: 'purposeContinuation',
  document: 'purposeDocument',
}

export function purposeName(purpose: string): string {
  const name = PURPOSES[purpose]
  return name ? t(name) : purpose
}
