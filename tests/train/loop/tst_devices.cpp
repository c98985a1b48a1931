#include "core/cuda/cuda_backend_torch.h"
#include "core/train/meters/memory_meter_torch.h"
#include "core/train/loop/run_setup_torch.h"

#include <ATen/detail/CUDAHooksInterface.h>

#include <QTest>

using namespace furrow;

/// Holds on machines with and without a GPU; what is asked of each GPU needs one.
class DevicesTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aGpuThatIsNotThereIsRefusedWithWhatThereIs()
    {
        const auto none = findDevice("cuda:64");
        QVERIFY(!none.ok());
        const auto& said = none.error().message;
        QVERIFY2(said.find("no device 'cuda:64'") != std::string::npos && said.find("cpu") != std::string::npos,
            said.c_str());
    }

    void theCpuNeedsNoCuda()
    {
        const auto cpu = findDevice("cpu");
        QVERIFY(cpu.ok() && cpu.value().is_cpu());
        QVERIFY(deviceMemoryBytes(cpu.value()) > 0);
    }

    void theLibraryForGpusLoadsAndListsThem()
    {
        const auto cuda = cudaBackend();
#ifdef FURROW_WITH_CUDA
        QVERIFY2(cuda.ok(), cuda.ok() ? "" : cuda.error().message.c_str());
        QVERIFY(at::detail::getCUDAHooks().hasCUDART()); // libtorch's CPU half knows its other half
        const auto gpus = cuda.value()->gpus();
        for (std::size_t i = 0; i < gpus.size(); ++i) {
            QVERIFY(gpus[i].uuid.rfind("GPU-", 0) == 0 && gpus[i].uuid.size() == 40);
            QVERIFY(gpus[i].memoryBytes > 0);
            const auto found = findDevice(gpus[i].uuid);
            QVERIFY(found.ok() && found.value() == c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(i)));
            const auto numbers = at::ones({ 1024 }, at::TensorOptions().device(found.value()));
            QVERIFY(cuda.value()->memory(found.value().index()).allocated >= 4096);
        }
#else
        QVERIFY(!cuda.ok());
        QVERIFY2(cuda.error().message.find("furrow-cuda") != std::string::npos, cuda.error().message.c_str());
#endif
    }
};

QTEST_GUILESS_MAIN(DevicesTest)
#include "tst_devices.moc"
