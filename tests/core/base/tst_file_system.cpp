#include "helper_process.h"

#include "core/base/denied.h"
#include "core/base/disk_room.h"
#include "core/base/file_lock.h"
#include "core/base/free_name.h"
#include "core/base/group_share.h"
#include "core/base/link_refusal.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/process_limit.h"
#include "core/base/regular_file.h"
#include "core/base/room_for_tracker.h"
#include "tests/must_have.h"

#include <atomic>
#include <fcntl.h>
#include <functional>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace furrow;

namespace {

const char* const kNoDisk
    = "This user may not make a small disk here: that takes root outside of containers, or CAP_SYS_ADMIN.";

/// Where this process alone sees it. False without the right to mount.
bool mountSmallDisk(const std::filesystem::path& folder, const char* options)
{
    std::filesystem::create_directories(folder);
    return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
        && ::mount("tmpfs", folder.c_str(), "tmpfs", 0, options) == 0;
}

/// What is said to somebody who is in no group of root's. Only root can ask.
std::string toldNobody(const std::function<Status()>& act)
{
    constexpr uid_t kNobody = 65534;
    int ends[2] = { -1, -1 };
    if (::pipe(ends) != 0)
        return "no pipe";
    const pid_t child = ::fork();
    if (child == 0) {
        const bool isNobody = ::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
        const auto done = isNobody ? act() : Status();
        const std::string said = done.ok()
            ? "done"
            : (isForRights(done.error().message) ? "" : "no right: ") + done.error().message.text();
        ::_exit(::write(ends[1], said.data(), said.size()) < 0);
    }
    ::close(ends[1]);
    std::string said;
    char piece[512];
    for (ssize_t got = 0; (got = ::read(ends[0], piece, sizeof piece)) > 0;)
        said.append(piece, static_cast<std::size_t>(got));
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return said;
}

} // namespace

class TestFileSystem : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::filesystem::path at(const char* name) const { return test::inFolder(folder_, name); }

private Q_SLOTS:
    void writesAndReads()
    {
        auto file = realFileSystem().create(at("plain"));
        QVERIFY(file.ok());
        QVERIFY(file.value()->append("ab", 2).ok());
        QVERIFY(file.value()->append("cd", 2).ok());
        QVERIFY(file.value()->sync().ok());
        QVERIFY(file.value()->close().ok());
        QVERIFY(file.value()->close().ok()); // twice is nothing
        QCOMPARE(realFileSystem().read(at("plain")).value(), std::string("abcd"));
    }

    void whatIsThereIsNeverGivenAsAFreeName()
    {
        QVERIFY(freeName(at("new.v7.bak")) == at("new.v7.bak"));
        QVERIFY(writeFileWhole(realFileSystem(), at("taken.v7.bak"), "of a person").ok());
        const auto free = freeName(at("taken.v7.bak"));
        const std::string name = utf8Text(free.filename());
        QVERIFY2(name.starts_with("taken.v7-") && name.ends_with(".bak"), name.c_str());
        QVERIFY(!isTaken(free) && free.parent_path() == at("taken.v7.bak").parent_path());
        std::filesystem::create_symlink("nowhere", at("link")); // what is written there would be elsewhere
        QVERIFY(freeName(at("link")) != at("link"));
    }

    /// A file was 0644 whatever the umask was, so a group could share folders and nothing in them.
    void theUmaskWasHonouredForFoldersAlone()
    {
        const mode_t before = ::umask(002);
        const bool made = RegularFile::open(at("shared"), RegularFile::At::End).ok();
        ::umask(before);
        struct stat facts {};
        QVERIFY(made && ::stat(at("shared").c_str(), &facts) == 0);
        QCOMPARE(facts.st_mode & 0777, mode_t(0664));
    }

    void durableWriteLeavesNoTemporaryFile()
    {
        const auto folder = at("durable");
        QVERIFY(realFileSystem().createFolders(folder).ok());
        QVERIFY(writeFileDurably(realFileSystem(), folder / "f", "one").ok());
        QVERIFY(writeFileDurably(realFileSystem(), folder / "f", "two").ok());
        QCOMPARE(readFile(folder / "f").value(), std::string("two"));
        QCOMPARE(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
    }

    /// The name was free when a long command began; what a person put there meanwhile was gone at its end.
    void aFileThatAppearedMeanwhileWasOverwritten()
    {
        const auto folder = at("appeared");
        QVERIFY(realFileSystem().createFolders(folder).ok());
        QVERIFY(writeNewFile(realFileSystem(), folder / "f", "a person's").ok());
        QVERIFY(!writeNewFile(realFileSystem(), folder / "f", "ours").ok());
        QCOMPARE(readFile(folder / "f").value(), std::string("a person's"));
        QCOMPARE(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
    }

    void readersOfADurableWriteSeeTheOldOrTheNewFile()
    {
        const auto path = at("replaced");
        const std::string a(100'000, 'a');
        const std::string b(100'000, 'b');
        QVERIFY(writeFileDurably(realFileSystem(), path, a).ok());
        std::atomic<bool> allWritten { true };
        std::jthread writer([&](const std::stop_token& stop) {
            while (!stop.stop_requested())
                allWritten = allWritten && writeFileDurably(realFileSystem(), path, b).ok()
                    && writeFileDurably(realFileSystem(), path, a).ok();
        });
        for (int round = 0; round < 500; ++round) {
            const auto text = readFile(path);
            QVERIFY2(text.ok(), text.ok() ? "" : text.error().message.c_str());
            QVERIFY(text.value() == a || text.value() == b);
        }
        writer.request_stop();
        writer.join();
        QVERIFY(allWritten);
    }

    void failedDurableWriteKeepsTheOldFile()
    {
        const auto path = at("taken-by-a-folder");
        QVERIFY(realFileSystem().createFolders(path / "inside").ok());
        QVERIFY(!writeFileDurably(realFileSystem(), path, "x").ok());
        QVERIFY(std::filesystem::is_directory(path / "inside"));
        for (const auto& entry : std::filesystem::directory_iterator(at("")))
            QVERIFY2(entry.path().extension() != ".tmp", entry.path().c_str());
    }

    void renameRefusesATakenName()
    {
        QVERIFY(writeFileDurably(realFileSystem(), at("r1"), "1").ok());
        QVERIFY(writeFileDurably(realFileSystem(), at("r2"), "2").ok());
        QVERIFY(!realFileSystem().rename(at("r1"), at("r2")).ok());
        QCOMPARE(readFile(at("r2")).value(), std::string("2"));
        QVERIFY(realFileSystem().rename(at("r1"), at("r3")).ok());
        QCOMPARE(readFile(at("r3")).value(), std::string("1"));
    }

    void renamesFoldersWithTheirFiles()
    {
        QVERIFY(realFileSystem().createFolders(at("made.tmp")).ok());
        QVERIFY(writeFileDurably(realFileSystem(), at("made.tmp") / "f", "x").ok());
        QVERIFY(realFileSystem().rename(at("made.tmp"), at("made")).ok());
        QVERIFY(realFileSystem().syncFolder(at("")).ok());
        QCOMPARE(readFile(at("made") / "f").value(), std::string("x"));
    }

    void removingTheMissingIsSuccess()
    {
        QVERIFY(realFileSystem().removeAll(at("never-was")).ok());
        QVERIFY(realFileSystem().createFolders(at("tree") / "a" / "b").ok());
        QVERIFY(realFileSystem().removeAll(at("tree")).ok());
        QVERIFY(!std::filesystem::exists(at("tree")));
    }

    void badPathsAreErrorsThatNameThem_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<int>("code");
        QTest::newRow("missing") << QString::fromStdString(at("missing")) << int(ErrorCode::NotFound);
        QTest::newRow("missing folder") << QString::fromStdString(at("no") / "such") << int(ErrorCode::NotFound);
        QTest::newRow("a folder") << folder_.path() << int(ErrorCode::InvalidArgument);
        QTest::newRow("a device") << "/dev/null" << int(ErrorCode::InvalidArgument);
        QTest::newRow("a file as folder") << "/etc/passwd/x" << int(ErrorCode::NotFound);
        QTest::newRow("name too long") << "/tmp/" + QString(400, 'n') << int(ErrorCode::Io);
    }
    void badPathsAreErrorsThatNameThem()
    {
        QFETCH(QString, path);
        QFETCH(int, code);
        const auto text = readFile(path.toStdString());
        QVERIFY(!text.ok());
        QCOMPARE(int(text.error().code), code);
        QVERIFY(text.error().message.find(path.toStdString()) != std::string::npos);
    }

    void aNamedPipeIsRefusedInsteadOfWaitedFor()
    {
        QCOMPARE(::mkfifo(at("fifo").c_str(), 0600), 0);
        QCOMPARE(readFile(at("fifo")).error().code, ErrorCode::InvalidArgument);
    }

    /// `status` waited for ever in a run folder with a named pipe in place of heldout.bin, and a supervisor for its
    /// log.
    void aNamedPipeWasWaitedForWhereAFileIsWrittenOrReadAsAStream()
    {
        QCOMPARE(::mkfifo(at("pipe").c_str(), 0600), 0);
        QVERIFY(!RegularFileStream(at("pipe")));
        const auto made = realFileSystem().create(at("pipe"));
        QVERIFY(!made.ok());
        QVERIFY2(made.error().message.find("not a regular file") != std::string::npos, made.error().message.c_str());
        const auto refused = refuseIrregular(at("pipe"));
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find(at("pipe").string() + ": it is not a regular file. Remove it")
                != std::string::npos,
            refused.error().message.c_str());
        QVERIFY(refuseIrregular(at("absent")).ok());
        QVERIFY(!refuseIrregular(at("")).ok());
    }

    void whatIsNoRegularFileIsNotOpenedForWriting_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("said");
        QTest::newRow("a link") << "link" << "it is a link";
        QTest::newRow("a link to nowhere") << "nowhere" << "it is a link";
        QTest::newRow("a pipe") << "pipe" << "it is not a regular file";
        QTest::newRow("a pipe with a reader") << "read" << "it is not a regular file";
        QTest::newRow("a folder") << "folder" << "it is a folder";
    }
    void whatIsNoRegularFileIsNotOpenedForWriting()
    {
        QFETCH(QString, name);
        QFETCH(QString, said);
        for (const char* old : { "other", "link", "nowhere", "pipe", "read", "folder" }) // of the row before
            std::filesystem::remove(at(old));
        QVERIFY(writeFileWhole(realFileSystem(), at("other"), "a person's").ok());
        std::filesystem::create_symlink(at("other"), at("link"));
        std::filesystem::create_symlink(at("none"), at("nowhere"));
        QCOMPARE(::mkfifo(at("pipe").c_str(), 0600), 0);
        QCOMPARE(::mkfifo(at("read").c_str(), 0600), 0);
        const int reader = ::open(at("read").c_str(), O_RDONLY | O_NONBLOCK);
        std::filesystem::create_directory(at("folder"));
        for (const auto where : { RegularFile::At::Beginning, RegularFile::At::End, RegularFile::At::Nothing }) {
            const auto opened = RegularFile::open(at(name.toStdString().c_str()), where);
            QVERIFY(!opened.ok());
            QVERIFY2(
                opened.error().message.find(said.toStdString()) != std::string::npos, opened.error().message.c_str());
        }
        QVERIFY(!FileLock::tryLock(at(name.toStdString().c_str())).ok());
        ::close(reader);
        QCOMPARE(readFile(at("other")).value(), std::string("a person's"));
        QVERIFY(!std::filesystem::exists(at("none")));
    }

    /// "cannot create the folder W/runs/one: the name is taken", of a link to a disk that was not mounted.
    void aLinkThatLedNowhereWasANameThatIsTaken()
    {
        std::filesystem::create_directory(at("space"));
        std::filesystem::create_symlink("/nowhere/runs", at("space/runs"));
        for (const char* name : { "space/runs", "space/runs/one" }) {
            const auto made = realFileSystem().createFolders(at(name));
            QVERIFY(!made.ok());
            const std::string& said = made.error().message;
            QVERIFY2(said.find(utf8Text(at("space/runs")) + " is a link to /nowhere/runs, where nothing is")
                    != std::string::npos,
                said.c_str());
        }
        QVERIFY(std::filesystem::is_symlink(at("space/runs")));
        std::filesystem::create_directory(at("space/there"));
        std::filesystem::create_directory_symlink("there", at("space/led"));
        QVERIFY(realFileSystem().createFolders(at("space/led/one")).ok());
    }

    /// The name was looked at first and opened then.
    void aLinkThatCameBetweenTheLookAndTheOpeningWasWrittenThrough()
    {
        QVERIFY(writeFileWhole(realFileSystem(), at("other"), "a person's").ok());
        std::atomic<bool> over = false;
        const std::jthread swaps([&] {
            while (!over) {
                std::error_code failed;
                std::filesystem::create_symlink(at("other"), at("next"), failed);
                std::filesystem::rename(at("next"), at("log"), failed);
                QFile own(QString::fromStdString(at("next").string()));
                if (own.open(QIODevice::WriteOnly))
                    own.close();
                std::filesystem::rename(at("next"), at("log"), failed);
            }
        });
        int opened = 0;
        for (int i = 0; i < 5000; ++i)
            if (auto file = RegularFile::open(at("log"), RegularFile::At::End); file.ok())
                opened += file.value().write("mine") == 4 ? 1 : 0;
        over = true;
        QVERIFY(opened > 0);
        QCOMPARE(readFile(at("other")).value(), std::string("a person's"));
    }

    void aRegularFileIsReadAsByAnyStream()
    {
        std::string bytes;
        for (int i = 0; i < 50'000; ++i)
            bytes += std::to_string(i) + "\n";
        QVERIFY(writeFileWhole(realFileSystem(), at("numbers"), bytes).ok());
        RegularFileStream in(at("numbers"));
        QVERIFY(in.good());
        int i = 0;
        for (std::string line; std::getline(in, line); ++i)
            QCOMPARE(line, std::to_string(i));
        QCOMPARE(i, 50'000);
        in.clear();
        for (const std::size_t place : { bytes.size() - 7, std::size_t(3), std::size_t(70'000), std::size_t(70'001) }) {
            std::string piece(7, ' ');
            QVERIFY(in.seekg(static_cast<std::streamoff>(place)) && in.read(piece.data(), 7));
            QCOMPARE(piece, bytes.substr(place, 7));
            QCOMPARE(std::size_t(in.tellg()), place + 7);
        }
        QVERIFY(in.seekg(0, std::ios::end) && std::size_t(in.tellg()) == bytes.size() && in.get() == EOF);
        QVERIFY(!RegularFileStream(at("absent")));
        QVERIFY(writeFileWhole(realFileSystem(), at("empty"), "").ok());
        RegularFileStream empty(at("empty"));
        QVERIFY(empty.good() && empty.get() == EOF);
    }

    void unreadableFileIsAnError()
    {
        constexpr uid_t kNobody = 65534;
        QVERIFY(writeFileDurably(realFileSystem(), at("secret"), "x").ok());
        std::filesystem::permissions(at("secret"), std::filesystem::perms::none);
        const auto folder = at("secret").parent_path();
        const auto before = std::filesystem::status(folder).permissions();
        std::filesystem::permissions(folder, std::filesystem::perms::all); // the file refuses, not its folder
        const bool isRoot = ::geteuid() == 0; // who may read everything, and be somebody else
        QVERIFY(!isRoot || ::seteuid(kNobody) == 0);
        const auto read = readFile(at("secret"));
        QVERIFY(!isRoot || ::seteuid(0) == 0);
        std::filesystem::permissions(folder, before);
        QVERIFY(!read.ok() && read.error().message.find("permission denied") != std::string::npos);
    }

    /// "permission denied; change the rights": whose they are, and who can change them, was not said.
    void whoseFileItIsWasNotSaid()
    {
        constexpr uid_t kNobody = 65534;
        if (::geteuid() != 0)
            QSKIP("only root can become another user");
        const auto folder = at("secret").parent_path();
        const auto before = std::filesystem::status(folder).permissions();
        std::filesystem::permissions(folder, std::filesystem::perms(0755));
        QCOMPARE(::seteuid(kNobody), 0);
        const auto refused = writeFileWhole(realFileSystem(), at("theirs"), "x");
        QCOMPARE(::seteuid(0), 0);
        std::filesystem::permissions(folder, before);
        QVERIFY(!refused.ok());
        QVERIFY2(
            refused.error().message.find("belongs to user root") != std::string::npos, refused.error().message.c_str());
    }

    /// "cannot read .../weights.safetensors: permission denied: ... who can let a group write it (chmod -R g+w)", and
    /// so of a folder that cannot be entered, and to somebody who was not in the group of a folder that is g+w.
    void whatCannotBeReadWasToBeMadeWritable()
    {
        if (::geteuid() != 0)
            QSKIP("only root can become another user");
        const auto folder = at("closed").parent_path();
        const auto before = std::filesystem::status(folder).permissions();
        const auto restore = qScopeGuard([&] { std::filesystem::permissions(folder, before); });
        std::filesystem::permissions(folder, std::filesystem::perms(0755));
        for (const char* made : { "closed", "unlisted", "group's" })
            QVERIFY(realFileSystem().createFolder(at(made)).ok());
        for (const auto& made : { at("roots"), at("closed") / "x", at("kept") })
            QVERIFY(writeFileWhole(realFileSystem(), made, "x").ok());
        QCOMPARE(::chown(at("kept").c_str(), 65534, 65534), 0);
        std::filesystem::permissions(at("kept"), std::filesystem::perms::none);
        std::filesystem::permissions(at("roots"), std::filesystem::perms(0600));
        std::filesystem::permissions(at("closed"), std::filesystem::perms(0640));
        std::filesystem::permissions(at("unlisted"), std::filesystem::perms(0711));
        std::filesystem::permissions(at("group's"), std::filesystem::perms(0775));
        const auto reading = [](const std::filesystem::path& path) {
            return toldNobody([&path] {
                const auto read = readFile(path);
                return read.ok() ? Status() : Status(read.error());
            });
        };
        const auto named = [this](const char* name) { return "permission denied: " + utf8Text(at(name)); };
        const auto listed = toldNobody([this] {
            const auto found = entriesOf(at("unlisted"));
            return found.ok() ? Status() : Status(found.error());
        });
        const std::pair<std::string, std::string> told[] {
            { reading(at("roots")),
                named("roots") + " belongs to user root, who can let a group read it (chmod -R g+rX)" },
            { reading(at("closed") / "x"),
                "permission denied: the folder " + utf8Text(at("closed"))
                    + " belongs to user root, who can let a group enter it (chmod g+x)" },
            { listed, named("unlisted") + " belongs to user root, who can let a group read it (chmod -R g+rX)" },
            { toldNobody([this] { return checkWritable(at("group's")); }),
                named("group's") + " belongs to user root and is for the group root, which you are not in" },
            { toldNobody([this] { return writeFileWhole(realFileSystem(), at("unlisted") / "y", "x"); }),
                named("unlisted") + " belongs to user root, who can let a group write it (chmod -R g+rwX)" },
            { reading(at("kept")), named("kept") + " is yours, and its rights keep you out" },
        };
        for (const auto& [said, wanted] : told)
            QVERIFY2(said.starts_with("cannot ") && said.find(wanted) != std::string::npos, said.c_str());
    }

    /// Two users of a group trained one run in turns, and what one of them made, the other could not remove.
    void aRunThatAGroupSharesWasBrokenByTheUmaskOfOne()
    {
        const mode_t before = ::umask(022);
        const auto restore = qScopeGuard([before] { ::umask(before); });
        const auto groupMayWrite = [this](const char* name) {
            return writeFileWhole(realFileSystem(), at(name), "x").ok()
                && (std::filesystem::status(at(name)).permissions() & std::filesystem::perms::group_write)
                != std::filesystem::perms::none;
        };
        QVERIFY(realFileSystem().createFolder(at("own")).ok());
        shareWithGroupOf(at("own"));
        QVERIFY(!groupMayWrite("mine"));
        std::filesystem::permissions(at("own"), std::filesystem::perms(0775));
        shareWithGroupOf(at("own"));
        QVERIFY(groupMayWrite("ours"));
    }

    /// A program with several runs has one umask, so what it made in the run of a group was for its user alone.
    void aProgramWithSeveralRunsSharedNoneOfThem()
    {
        const mode_t before = ::umask(077);
        const auto restore = qScopeGuard([before] { ::umask(before); });
        const auto team = at("team");
        const auto alone = at("alone");
        for (const auto& folder : { team, alone }) {
            QVERIFY(realFileSystem().createFolder(folder).ok());
            std::filesystem::permissions(folder, std::filesystem::perms(folder == team ? 0775 : 0755));
            shareBelow(folder / ""); // as it may be named
        }
        const auto mayGroupWriteTo = [](const std::filesystem::path& made) {
            return (std::filesystem::status(made).permissions() & std::filesystem::perms::group_write)
                != std::filesystem::perms::none;
        };
        for (const auto& folder : { team, alone }) {
            QVERIFY(realFileSystem().createFolder(folder / "one").ok());
            QVERIFY(realFileSystem().createFolders(folder / "two" / "three").ok());
            QVERIFY(writeFileDurably(realFileSystem(), folder / "one" / "file", "x").ok());
            QVERIFY(RegularFile::open(folder / "log", RegularFile::At::End).ok());
            for (const char* made : { "one", "two", "two/three", "one/file", "log" })
                QCOMPARE(mayGroupWriteTo(folder / made), folder == team);
        }
        std::filesystem::permissions(team, std::filesystem::perms(0755));
        shareBelow(team);
        QVERIFY(writeFileDurably(realFileSystem(), team / "later", "x").ok());
        QVERIFY(!mayGroupWriteTo(team / "later"));
    }

    /// Checkpoints filled the disk to its last byte, and the tracker could not be told that old ones go.
    void checkpointsTookTheRoomOfTheTracker()
    {
        const auto free = freeBytes(at(""));
        QVERIFY(free.ok());
        QVERIFY(requireRoom(at(""), 0).ok() == (free.value() >= kRoomForTracker));
        const auto refused = requireRoom(at(""), free.value() + (std::uint64_t(1) << 30)); // others free some meanwhile
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::Io);
        QVERIFY(mayPass(refused.error()));
    }

    void fullDiskIsSaidPlainly() // on /dev/full it had skipped itself since what is opened must be a regular file
    {
        const auto folder = at("full");
        SKIP_WITHOUT("namespaces", mountSmallDisk(folder, "size=64k"), kNoDisk);
        const auto free = qScopeGuard([&folder] { ::umount(folder.c_str()); });
        auto file = realFileSystem().create(folder / "file");
        QVERIFY(file.ok());
        const std::string much(1 << 20, 'x');
        const auto status = file.value()->append(much.data(), much.size());
        QVERIFY(!status.ok());
        QCOMPARE(status.error().code, ErrorCode::Io);
        QVERIFY(status.error().message.find("disk is full") != std::string::npos);
    }

    /// "The disk is full; free some space", with 92 % of it free.
    void aDiskWithoutInodesWasCalledFull()
    {
        const auto folder = at("inodes");
        SKIP_WITHOUT("namespaces", mountSmallDisk(folder, "size=4m,nr_inodes=4"), kNoDisk);
        const auto free = qScopeGuard([&folder] { ::umount(folder.c_str()); });
        QVERIFY(!isOutOfFiles(folder));
        Status made;
        for (int i = 0; i < 8 && made.ok(); ++i)
            made = writeFileWhole(realFileSystem(), folder / std::to_string(i), "x");
        QVERIFY(!made.ok());
        QVERIFY2(made.error().message.find("no inodes are left") != std::string::npos, made.error().message.c_str());
        QVERIFY(isOutOfFiles(folder) && isOutOfFiles(folder / "not" / "there"));
    }

    /// SIGXFSZ ended the process without a word.
    void aLimitOfFileSizesEndedTheProcess()
    {
        rlimit before {};
        QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
        makeFileSizeLimitAnError();
        rlimit small = before;
        small.rlim_cur = 1 << 20;
        QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
        const auto again = qScopeGuard([&before] { ::setrlimit(RLIMIT_FSIZE, &before); });
        const auto refused = writeFileWhole(realFileSystem(), at("large"), std::string(2 << 20, 'x'));
        QVERIFY(!refused.ok());
        QVERIFY2(
            refused.error().message.find("larger than 1.0 MiB here; raise the limit (ulimit -f)") != std::string::npos,
            refused.error().message.c_str());
        QVERIFY(isForLimit(refused.error().message) && !mayPass(refused.error()));
    }

    /// It was waited for, as a disk that is full, though nobody can lift it from outside.
    void aLimitOfOpenFilesWasWaitedFor()
    {
        QVERIFY(writeFileWhole(realFileSystem(), at("there"), "x").ok());
        rlimit before {};
        QCOMPARE(::getrlimit(RLIMIT_NOFILE, &before), 0);
        const int next = ::open("/dev/null", O_RDONLY);
        ::close(next);
        rlimit none = before;
        none.rlim_cur = static_cast<rlim_t>(next);
        QCOMPARE(::setrlimit(RLIMIT_NOFILE, &none), 0);
        const auto refused = readFile(at("there"));
        QCOMPARE(::setrlimit(RLIMIT_NOFILE, &before), 0);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::Io); // not damage
        QVERIFY(!mayPass(refused.error()));
        QVERIFY(isForLimit(sentence("reading block %1: %2", { "3", refused.error().message })));
        QVERIFY(mayPass({ ErrorCode::Io, "the disk is full" }));
    }

    /// "it or its folder does not exist", "permission denied": neither was so.
    void aFileInPlaceOfAFolderWasSaidToBeMissing()
    {
        QVERIFY(writeFileWhole(realFileSystem(), at("plain"), "x").ok());
        const std::string said = utf8Text(at("plain")) + " is not a folder";
        for (const auto& refused : { realFileSystem().createFolders(at("plain") / "blocks"),
                 realFileSystem().createFolders(at("plain")), checkWritable(at("plain")), refuseNoFolder(at("plain")),
                 Status(readFile(at("plain") / "x").error()) }) {
            QVERIFY(!refused.ok());
            QVERIFY2(refused.error().message.find(said) != std::string::npos, refused.error().message.c_str());
        }
        QVERIFY(refuseNoFolder(at("none")).ok() && refuseNoFolder(at("")).ok());
        QVERIFY(readFile(at("none") / "x").error().message.find("does not exist") != std::string::npos);
    }

    void readFileIsBounded()
    {
        QVERIFY(writeFileDurably(realFileSystem(), at("ten"), "0123456789").ok());
        QCOMPARE(readFile(at("ten"), 10).value().size(), std::size_t(10));
        QCOMPARE(readFile(at("ten"), 9).error().code, ErrorCode::InvalidArgument);
    }

    void readsAtOffsets()
    {
        QVERIFY(writeFileDurably(realFileSystem(), at("offsets"), "0123456789").ok());
        auto file = RandomAccessFile::open(at("offsets"));
        QCOMPARE(file.value().sizeBytes(), std::uint64_t(10));
        std::string bytes(3, ' ');
        QVERIFY(file.value().readAt(7, std::as_writable_bytes(std::span(bytes))).ok());
        QCOMPARE(bytes, std::string("789"));
        QCOMPARE(file.value().readAt(8, std::as_writable_bytes(std::span(bytes))).error().code, ErrorCode::Corrupt);
        const RandomAccessFile moved = std::move(file.value());
        QVERIFY(moved.readAt(0, std::as_writable_bytes(std::span(bytes))).ok());
        QCOMPARE(bytes, std::string("012"));
    }

    void aFileCutByOthersIsAnErrorNotASignal()
    {
        QVERIFY(writeFileDurably(realFileSystem(), at("cut"), std::string(10'000, 'x')).ok());
        const auto file = RandomAccessFile::open(at("cut"));
        std::filesystem::resize_file(at("cut"), 5'000);
        std::string bytes(6'000, ' ');
        QCOMPARE(file.value().readAt(0, std::as_writable_bytes(std::span(bytes))).error().code, ErrorCode::Corrupt);
    }

    void knowsTheFreeSpaceAlsoOfAFolderYetToBeMade()
    {
        const auto here = freeBytes(at(""));
        const auto later = freeBytes(at("not") / "yet" / "made");
        QVERIFY(here.ok() && later.ok());
        QVERIFY(here.value() > 0 && later.value() > 0);
    }

    void namesSynchronisedFolders_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("service");
        QTest::newRow("OneDrive") << "/home/eva/OneDrive/runs" << "OneDrive";
        QTest::newRow("OneDrive of a company") << "/home/eva/OneDrive - Acme/runs" << "OneDrive";
        QTest::newRow("Dropbox") << "/home/eva/dropbox/x" << "Dropbox";
        QTest::newRow("second Dropbox") << "/home/eva/Dropbox (Old)/x" << "Dropbox";
        QTest::newRow("iCloud") << "/Users/eva/Library/Mobile Documents/com~apple~CloudDocs/x" << "iCloud";
        QTest::newRow("a name that only begins so") << "/tmp/dropboxes/x" << "";
        QTest::newRow("plain") << "/tmp/runs" << "";
    }
    void namesSynchronisedFolders()
    {
        QFETCH(QString, path);
        QFETCH(QString, service);
        const QString reason = QString::fromStdString(unsafeForLedgerReason(path.toStdString()));
        QCOMPARE(reason.isEmpty(), service.isEmpty());
        QVERIFY2(reason.contains(service), qPrintable(reason));
    }

    void measuresTheDisk()
    {
        const auto milliseconds = measureSyncMs(at(""), 5);
        QVERIFY(milliseconds.ok());
        QVERIFY(milliseconds.value() > 0);
        QVERIFY(!measureSyncMs("/proc", 5).ok());
        for (const auto& entry : std::filesystem::directory_iterator(at("")))
            QVERIFY2(!entry.path().filename().string().starts_with("sync-"), entry.path().c_str());
    }

    void namesInOtherScriptsWork()
    {
        const auto path
            = pathFromUtf8(utf8Text(at("")) + "/\xD0\xBF\xD0\xBE\xD0\xBB\xD0\xB5 \xE7\x95\x91 \xF0\x9F\x8C\xBE");
        QVERIFY(writeFileDurably(realFileSystem(), path, "x").ok());
        QCOMPARE(readFile(path).value(), std::string("x"));
    }
};

QTEST_GUILESS_MAIN(TestFileSystem)
#include "tst_file_system.moc"
