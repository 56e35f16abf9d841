import { describe } from 'vitest'
import { FolderBlobs } from '../../services/platform/embedded/blobs.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'
import { blobsContract, type OpenedBlobs } from './blobs.contract.ts'

const openFolder = async (): Promise<OpenedBlobs> => {
  const folder = temporaryFolder('blobs')
  const blobs = await FolderBlobs.open(folder.path)
  const dispose = async (): Promise<void> => {
    await blobs[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  }
  return { blobs, [Symbol.asyncDispose]: dispose }
}

// The folder is the only engine of blobs so far, and serves both.
describe('PLT-1: blobs in a folder', () => blobsContract(openFolder))
